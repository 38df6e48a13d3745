// The tables of README.md, README.ko.md and docs/choosing.md, from the digest of a run. `npm run load:readme -- <folder>`
// writes them between markers, so that no figure there was typed by hand.
import type { Digest, StrategyDigest } from './digest.js';
import { digest as digestOf, flashOf } from './digest.js';
import { figure, seconds as secondsText } from './format.js';
import { headline } from './headline.js';
import type { Results } from './results.js';
import { isRed } from '../verdict.js';
import { differenceText } from './wording.js';

interface Words {
  head: string[];
  none: string;
  measure: string;
  alike: string;
  slower: string;
  faster: string;
  notSold: string;
  fewRounds: string;
  notComparable: string;
  noCommonRound: string;
  source: (facts: Facts) => string;
}

interface Facts {
  date: string;
  /** Of the blocks that the table shows; a run can have several sittings. */
  commits: string;
  machine: string;
  command: string;
  rounds: string;
  supply: number;
  /** Seconds that the crowd takes to come. */
  crowd: string;
  climbs: number;
  page: string;
}

const english: Words = {
  head: ['strategy', 'result', 'sold out in', 'against `atomic`', 'winners wait, p99', '“sold out” takes, p99', 'knee', 'Redis commands / 1000', 'transactions / 1000'],
  none: '-',
  measure: 'the measure',
  alike: 'no measurable difference',
  slower: 'slower',
  faster: 'faster',
  notSold: 'not sold out',
  fewRounds: 'too few rounds',
  notComparable: 'not comparable',
  noCommonRound: 'no common round',
  source: ({ date, commits, machine, command, rounds, supply, crowd, climbs, page }) =>
    `${date}, commit ${commits}, ${machine}; median of ${rounds} of \`coupon-flash\` (${supply} coupons), 95 % bootstrap intervals, all strategies in random order. The crowd itself takes ${crowd} to come: who sold out soon after was as fast as can be told. Knee: the most per second with 99 of 100 served within 250 ms, median of ${climbs}. The last two columns count all that the sale and the apps did meanwhile: the refused, the jobs on the side, each command inside a Redis script. Made by \`${command}\`: [the whole report](${page}).`,
}; // prettier-ignore

const korean: Words = {
  head: ['전략', '결과', '매진까지', '`atomic` 대비', '당첨자 대기 p99', '“매진” 응답 p99', '한계점(knee)', 'Redis 명령 / 1000건', '트랜잭션 / 1000건'],
  none: '-',
  measure: '기준',
  alike: '측정 가능한 차이 없음',
  slower: '느림',
  faster: '빠름',
  notSold: '매진되지 않음',
  fewRounds: '반복 부족',
  notComparable: '비교 불가',
  noCommonRound: '같은 라운드 없음',
  source: ({ date, commits, machine, command, rounds, supply, crowd, climbs, page }) =>
    `${date}, 커밋 ${commits}, ${machine}; \`coupon-flash\`(쿠폰 ${supply}장) ${rounds}회 반복의 중앙값, 95 % 부트스트랩 구간, 모든 전략을 무작위 순서로 실행. 쿠폰 수만큼의 손님이 도착하는 데만 ${crowd}가 걸리므로, 그 직후에 매진되었다면 더 빠를 수 없습니다. 한계점은 ${climbs}회 측정의 중앙값. 마지막 두 열은 그동안 앱이 한 모든 일을 셉니다. 거절된 요청, 주변 작업, Redis 스크립트 안의 명령까지 포함합니다. \`${command}\` 로 생성: [전체 보고서](${page}).`,
}; // prettier-ignore

export type Language = 'en' | 'ko';
const wordsOf = (language: Language): Words => (language === 'ko' ? korean : english);

/** One line per strategy of the flash sale. `page` is the address of report.html from where the table stands. */
export function comparisonTable(results: Results, page: string, language: Language = 'en'): string {
  const words = wordsOf(language);
  const digest = digestOf(results.blocks);
  const flash = flashOf(digest);
  const rows = flash.map((one) => rowOf(one, digest, words));
  const { environment } = results;
  const facts: Facts = {
    date: environment.date.slice(0, 10),
    commits: commitsOf(results),
    machine: `${environment.machine.cores} × ${environment.machine.cpu}`,
    command: environment.command,
    rounds: roundsText(
      flash.map(({ rounds }) => rounds),
      language,
    ),
    supply: flash[0]?.supply ?? 0,
    crowd: secondsText(flash[0]?.crowdMs ?? 0),
    climbs: Math.max(0, ...digest.capacity.map(({ climbs }) => climbs)),
    page,
  };
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`;
  return [
    line(words.head),
    line(words.head.map((_, at) => (at < 2 ? '---' : '---:'))),
    ...rows.map(line),
    '',
    words.source(facts),
  ].join('\n');
}

function commitsOf({ blocks, environment }: Results): string {
  const shown = blocks.filter(({ scenario, mode }) => scenario === 'coupon-flash' || mode === 'knee');
  const commits = new Set(shown.map(({ commit }) => commit ?? environment.commit));
  return [...commits].map((commit) => `\`${commit}\``).join(', ');
}

/** `5 rounds`, or `4 to 5 rounds` where a measurement was no good. */
function roundsText(rounds: readonly number[], language: Language): string {
  const [fewest, most] = [Math.min(...rounds), Math.max(...rounds)];
  const text = fewest === most ? `${most}` : `${fewest}${language === 'ko' ? '–' : ' to '}${most}`;
  return language === 'ko' ? text : `${text} ${most === 1 ? 'round' : 'rounds'}`;
}

function rowOf(one: StrategyDigest, digest: Digest, words: Words): string[] {
  const knee = digest.capacity.find(({ strategy }) => strategy === one.strategy)?.knee;
  const { soldOutMs, servedP99, refusedP99, perThousand } = one;
  // Per coupon given: what none gave away is more than there were, and cannot stand beside the others.
  const cost = one.strategy === 'none' ? undefined : perThousand;
  const or = (text: string | undefined) => text ?? words.none;
  const given = `${one.sold ?? words.none} / ${one.supply ?? words.none}`;
  const result = isRed(one.verdict) || one.verdict === 'oversold' ? `**${one.verdict.toUpperCase()}** ${given}` : given;
  return [
    `\`${one.strategy}\``,
    result,
    or(soldOutMs && `${figure(soldOutMs.mid / 1000)} s`),
    translate(differenceText(one.strategy, digest.againstAtomic), words),
    or(servedP99 && `${figure(servedP99.mid)} ms`),
    or(refusedP99 && `${figure(refusedP99.mid)} ms`),
    or(knee && `${figure(knee.mid)}/s`),
    or(cost?.redisCommands && figure(cost.redisCommands.mid)),
    or(cost?.transactions && figure(cost.transactions.mid)),
  ];
}

function translate(text: string, words: Words): string {
  return text
    .replace('no measurable difference', words.alike)
    .replace('the measure', words.measure)
    .replace('not sold out', words.notSold)
    .replace('too few rounds', words.fewRounds)
    .replace('not comparable', words.notComparable)
    .replace('no common round', words.noCommonRound)
    .replace('slower', words.slower)
    .replace('faster', words.faster)
    .replace(' to ', '–');
}

/** What the page says first, as a list. */
export const headlineList = (results: Results): string =>
  headline(digestOf(results.blocks))
    .map(({ text }) => `* ${text}`)
    .join('\n');

/** Replaces what stands between `<!-- name:begin -->` and `<!-- name:end -->`. */
export function betweenMarkers(document: string, name: string, content: string): string {
  const [begin, end] = [`<!-- ${name}:begin -->`, `<!-- ${name}:end -->`];
  const [from, to] = [document.indexOf(begin), document.indexOf(end)];
  if (from === -1 || to < from) throw new Error(`The markers ${begin} and ${end} are missing.`);
  return `${document.slice(0, from + begin.length)}\n${content}\n${document.slice(to)}`;
}
