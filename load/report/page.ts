// The report as one page that needs nothing else: opens from the file system, reads on a phone, in light and dark.
import { limitMs } from '../knee.js';
import { duration } from '../progress.js';
import { isRed } from '../verdict.js';
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
  const orders =
    orderKnee === undefined
      ? ''
      : `; baskets at 80 % of what sorted carried (${figure(orderKnee)}/s), the hot option at twice that knee`;
  return [['Loads', escape(`from the knees of this run: the sale asks at most twice what the median strategy carried (${figure(medianKnee)}/s); the slowest carried ${figure(slowestKnee)}/s${orders}`)]]; // prettier-ignore
}

function methodSection({ environment, profile, seed, left, blocks }: Results): string {
  const { versions, instances, settings, machine, command } = environment;
  const busy = blocks.reduce((sum, { tookMs }) => sum + tookMs, 0);
  const facts: [string, string][] = [
    ['Command', `<code>${escape(command)}</code>`],
    ['Seed', `<code>${seed}</code>, which draws the order of the blocks`],
    ['Blocks', `${blocks.length} in ${duration(busy)}, profile ${profile}${left > 0 ? `; ${left} planned ones were left out because the time was up` : ''}`],
    ...loadsFact(blocks),
    ['Machine', escape(`${machine.cores} cores of ${machine.cpu}, ${machine.memoryGb} GB, ${machine.system}; k6, the apps, PostgreSQL and Redis share them`)],
    ['Instances', `${instances.coupon} × coupon, ${instances.order} × order, asked in turn`],
    ['Versions', escape(`Node ${versions.node}, k6 ${versions.k6} (${versions.k6From}), PostgreSQL ${versions.postgres}, Redis ${versions.redis}`)],
    ['Settings', escape(Object.entries({ ...settings.lock, ...settings.postgres }).map(([key, value]) => `${key}=${value}`).join(', '))],
  ]; // prettier-ignore
  const rules = [
    'Every block: fresh coupons, products and users, VACUUM ANALYZE, a warm-up with the same strategy, drained; then k6; then quiet; then every invariant by SQL and every answer against the rows.',
    'One critical section, one deadline, the same pools, TTLs and log level for all. The constraints of the database stay on under every strategy but none; where they had to act it is counted as a trip.',
    'Arrival rates, not loops: users come whether or not the ones before were answered. A block with dropped arrivals is refused and measured again.',
    'All strategies of a round in random order; differences are between blocks of one round. Intervals are 95 % bootstrap intervals of the median. “No measurable difference” where the interval includes 0 or the effect is under 5 %.',
    `The knee is the last load at which 99 of 100 were served within ${limitMs} ms.`,
    'Redis commands are those that Redis executed, inside scripts too. CPU of PostgreSQL is that of all its processes.',
  ];
  const raw = table(
    'Every block: its figures, and its client log with one line per request',
    [
      { head: 'block', cell: ({ id }) => `<a href="${encodeURI(`raw/${id}.json`)}">${escape(id)}</a>` },
      { head: 'log', cell: ({ clientLog }) => `<a href="${encodeURI(`raw/${clientLog}`)}">client log</a>` },
      { head: 'verdict', cell: ({ verdict, reasons }) => (isRed(verdict) ? `<span class="chip red">${verdict.toUpperCase()}</span> ${escape(reasons.join('; '))}` : verdict) },
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
