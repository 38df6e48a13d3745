// The report as one page that needs nothing else: opens from the file system, reads on a phone, in light and dark.
import { limitMs } from '../knee.js';
import { profiles, scenarioNames } from '../plan.js';
import type { ScenarioName } from '../plan.js';
import { duration } from '../progress.js';
import { isRed } from '../verdict.js';
import type { Judgement } from '../verdict.js';
import { answersSection } from './sections/answers.js';
import { bleedSection } from './sections/bleed.js';
import { costSection } from './sections/cost.js';
import { fairnessSection } from './sections/fairness.js';
import { loadSection } from './sections/load.js';
import { correctnessSection, orderSections } from './sections/orders.js';
import { speedSection } from './sections/speed.js';
import { sweepSection } from './sections/sweep.js';
import { timeSection } from './sections/time.js';
import { verdictSection } from './sections/verdict.js';
import { digest } from './digest.js';
import { figure } from './format.js';
import { headline } from './headline.js';
import { escape, table } from './html.js';
import type { Results } from './results.js';
import { style } from './style.js';

export function reportPage(results: Results): string {
  const { environment, profile, blocks } = results;
  const digested = digest(blocks);
  const sentences = headline(digested).map(({ tone, text }) => `<li class="${tone}">${escape(text)}</li>`);
  const { machine } = environment;
  const sections = [
    verdictSection(digested),
    loadSection(digested),
    answersSection(digested),
    speedSection(digested),
    timeSection(digested),
    fairnessSection(digested),
    costSection(digested),
    sweepSection(blocks),
    bleedSection(digested),
    orderSections(digested),
    correctnessSection(digested),
    methodSection(results),
  ].join('\n');
  const links = [...sections.matchAll(/<section id="([\w-]+)"><h2>([^<]+)<\/h2>/g)].map(
    ([, id, title]) => `<a href="#${id}">${title}</a>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>Firstcome: the comparison, ${environment.date.slice(0, 10)}</title>
<style>${style}</style>
</head>
<body>
<header>
<h1>Which way of keeping order costs what?</h1>
<p>Limited coupons and scarce stock under k6, on real PostgreSQL and Redis: every strategy at the same critical section, in random order, each answer compared with the rows.</p>
<p class="facts"><span>${escape(environment.date.slice(0, 10))}</span><span>commit <code>${escape(environment.commit)}</code>${environment.uncommitted > 0 ? ` + ${environment.uncommitted} changed files` : ''}</span><span>${machine.cores} × ${escape(machine.cpu)}</span><span>${machine.memoryGb} GB</span><span>profile ${profile}</span><span>${blocks.length} blocks</span></p>
<nav aria-label="Parts of this page">${links.join('')}</nav>
${sentences.length > 0 ? `<ul class="short">${sentences.join('\n')}</ul>` : ''}
</header>
<main>
${sections}
</main>
<footer><p>Ratios of one run on one machine, never absolute promises: run it on yours with <code>npm run compare</code>.</p></footer>
</body>
</html>
`;
}

/** What the offered loads were taken from, where they were measured first. */
function loadsFact(blocks: Results['blocks']): [string, string][] {
  const loads = blocks.find((block) => block.loads)?.loads;
  if (!loads) return [];
  const { slowestKnee, medianKnee, orderKnee } = loads;
  const offered = (scenario: ScenarioName) => {
    const phases = blocks.find((block) => block.scenario === scenario && !block.mode)?.offered ?? [];
    const rates = phases.filter(({ name }) => !name.startsWith('probe')).map(({ rate }) => rate);
    return rates.length === 0 ? [] : `${scenario} ${figure(Math.max(...rates))}/s`;
  };
  const knees = `slowest ${figure(slowestKnee)}/s, median ${figure(medianKnee)}/s${orderKnee === undefined ? '' : `, baskets under sorted ${figure(orderKnee)}/s`}`;
  return [['Loads', escape(`from the first knees of this run (${knees}): ${scenarioNames.flatMap(offered).join(', ')}`)]]; // prettier-ignore
}

/** Where a run was made in more than one go: what each was made by, and how much of it. */
function sittingsFact(sittings: Results['sittings'] = []): [string, string][] {
  if (sittings.length < 2) return [];
  const lines = sittings.map(
    ({ commit, command, date, blocks }) =>
      `${escape(date.slice(0, 16).replace('T', ' '))} UTC at <code>${escape(commit)}</code>: ${blocks ?? '?'} blocks by <code>${escape(command)}</code>`,
  );
  return [['Sittings', lines.join('<br>')]];
}

const triesText = (earlier: readonly Judgement[] = []): string =>
  earlier.length === 0
    ? ''
    : ` after ${earlier.map(({ verdict, reasons }) => `${verdict} (${reasons.join('; ')})`).join(', then ')}`;

function methodSection({ environment, sittings, profile, seed, left, blocks }: Results): string {
  const { versions, instances, settings, machine, command } = environment;
  const { knee } = profiles[profile];
  const busy = blocks.reduce((sum, { tookMs }) => sum + tookMs, 0);
  const facts: [string, string][] = [
    ['Command', `<code>${escape(command)}</code>`],
    ...sittingsFact(sittings),
    ['Seed', `<code>${seed}</code>, which draws the order of the blocks`],
    ['Blocks', `${blocks.length} in ${duration(busy)}, profile ${profile}${left > 0 ? `; ${left} planned ones were left out because the time was up` : ''}`],
    ...loadsFact(blocks),
    ['Machine', escape(`${machine.cores} cores of ${machine.cpu}, ${machine.memoryGb} GB, ${machine.system}; k6, the apps, PostgreSQL and Redis share them`)],
    ['Instances', `${instances.coupon} × coupon, ${instances.order} × order, asked in turn`],
    ['Versions', escape(`Node ${versions.node}, k6 ${versions.k6} (${versions.k6From}), PostgreSQL ${versions.postgres}, Redis ${versions.redis}`)],
    ['Settings', escape(Object.entries({ ...settings.lock, ...settings.postgres, ...settings.redis }).map(([key, value]) => `${key}=${value}`).join(', '))],
  ]; // prettier-ignore
  const rules = [
    'Every block: fresh coupons, products and users, VACUUM ANALYZE, a warm-up with the same strategy, drained; then k6; then quiet; then every invariant by SQL and every answer against the rows.',
    'One critical section, the same pools, TTLs and log level for all. The constraints of the database stay on under every strategy but none; where they had to act it is counted as a trip.',
    'A request may wait 10 s (LOCK_WAIT_MS) for its turn under every strategy, but some end sooner by themselves: a statement ends after 4 s, a wait for a row under atomic after 3 s, and optimistic gives up after 10 tries.',
    'Once it has seen the end, batched answers “sold out” for a moment from one look for many; the others look each time. Nothing runs out where the knee is looked for.',
    'The three Redis servers of redlock keep nothing on disk and serve nobody else; the one of the other locks writes an append-only file and counts for the applications too.',
    'Arrival rates, not loops: users come whether or not the ones before were answered. A block with dropped arrivals, or one that could not sell out because its users were told to come back, is refused and measured again, at most three times.',
    'All strategies of a round in random order; differences are between blocks of one round. Intervals are 95 % bootstrap intervals of the median: of five rounds, from the smallest to the largest. “No measurable difference” where the interval includes 0 or the effect is under 5 %; nothing is said of fewer than five rounds.',
    `The knee is the last load at which 99 of 100 were served, and 99 of 100 of these within ${limitMs} ms: looked for in steps of ${knee.seconds} s, doubled until one fails twice, then in quarters. It is what a burst of that length finds; one climb a round.`,
    'Nobody can sell out before enough have come: how long that takes is beside the time to sell out.',
    'Redis commands are those that Redis executed, inside scripts too. CPU of PostgreSQL is that of all its processes.',
  ];
  const raw = table(
    'Every block: its figures, and its client log with one line per request',
    [
      { head: 'block', cell: ({ id }) => `<a href="${encodeURI(`raw/${id}.json`)}">${escape(id)}</a>` },
      { head: 'log', cell: ({ clientLog }) => `<a href="${encodeURI(`raw/${clientLog}`)}">client log</a>` },
      { head: 'verdict', cell: ({ verdict, reasons, earlier }) => (isRed(verdict) ? `<span class="chip red">${verdict.toUpperCase()}</span> ${escape(reasons.join('; '))}` : verdict) + escape(triesText(earlier)) },
      { head: 'requests', number: true, cell: ({ figures }) => String(figures.requests) },
      { head: 'dropped', number: true, cell: ({ k6 }) => String(k6.dropped ?? '?') },
      { head: 'k6 CPU s', number: true, cell: ({ cost }) => (cost.k6CpuSeconds === undefined ? '?' : cost.k6CpuSeconds.toFixed(1)) },
      { head: 'took s', number: true, cell: ({ tookMs }) => (tookMs / 1000).toFixed(1) },
    ],
    blocks,
  ); // prettier-ignore
  return `<section id="method"><h2>Method and raw files</h2><p>Everything above is figured from these files by the committed code.</p>
<figure><dl>${facts.map(([term, value]) => `<dt>${term}</dt><dd>${value}</dd>`).join('')}</dl></figure>
<ul class="rules">${rules.map((rule) => `<li>${escape(rule)}</li>`).join('')}</ul>
<figure><p><a href="results.json">results.json</a> holds all of it in one file; its schema is <code>load/results.schema.json</code>.</p><details><summary>All ${blocks.length} blocks</summary>${raw}</details></figure></section>`;
}
