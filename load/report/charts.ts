// Charts as inline SVG: small multiples, one panel per strategy, drawn near their real size so that they read on a phone.
import { escape, familyOf } from './html.js';
import { figure } from './format.js';

export interface Scale {
  at(value: number): number;
  ticks: { value: number; label: string }[];
}

const width = 300;
const height = 176;
const frame = { left: 40, right: 10, top: 8, bottom: 30 };
const inner = { width: width - frame.left - frame.right, height: height - frame.top - frame.bottom };
const round = (value: number) => Math.round(value * 10) / 10;

export function logScale(low: number, high: number, ticks: number[], label: (value: number) => string): Scale {
  const [from, to] = [Math.log10(low), Math.log10(Math.max(high, low * 1.01))];
  return {
    at: (value) => Math.min(1, Math.max(0, (Math.log10(Math.max(value, low)) - from) / (to - from))),
    ticks: ticks.filter((value) => value >= low && value <= high).map((value) => ({ value, label: label(value) })),
  };
}

export function linearScale(low: number, high: number, ticks: number[], label: (value: number) => string): Scale {
  return {
    at: (value) => (high === low ? 0 : Math.min(1, Math.max(0, (value - low) / (high - low)))),
    ticks: ticks.map((value) => ({ value, label: label(value) })),
  };
}

export const latencyTicks = [1, 10, 100, 1000, 10_000];
export const latencyLabel = (value: number): string => (value >= 1000 ? `${value / 1000} s` : `${value} ms`);

/** Powers of two times the smallest, as the search for the knee climbs. */
export function rateTicks(low: number, high: number): number[] {
  const ticks: number[] = [];
  for (let value = low; value <= high * 1.001; value *= 4) ticks.push(Math.round(value));
  return ticks;
}

export interface Line {
  points: { x: number; y: number; low?: number; high?: number; hollow?: boolean }[];
  /** context: of the others, in grey. */
  look: 'main' | 'second' | 'third' | 'context';
  label?: string;
}

export interface Panel {
  title: string;
  strategy: string;
  /** What the picture shows, for those who do not see it. */
  summary: string;
  x: Scale;
  y: Scale;
  xTitle: string;
  yTitle?: string;
  lines?: Line[];
  dots?: { x: number; y: number }[];
  /** A vertical mark with its word. */
  mark?: { x: number; label: string };
  /** A horizontal reference with its word. */
  limit?: { y: number; label: string };
  diagonal?: boolean;
}

export function panel(one: Panel): string {
  const x = (value: number) => round(frame.left + one.x.at(value) * inner.width);
  const y = (value: number) => round(frame.top + (1 - one.y.at(value)) * inner.height);
  const bottom = frame.top + inner.height;
  const right = frame.left + inner.width;
  const parts: string[] = [];
  for (const { value, label } of one.y.ticks) {
    parts.push(`<line class="grid" x1="${frame.left}" x2="${right}" y1="${y(value)}" y2="${y(value)}"/>`);
    parts.push(
      `<text class="tick" x="${frame.left - 5}" y="${y(value) + 3.5}" text-anchor="end">${escape(label)}</text>`,
    );
  }
  for (const { value, label } of one.x.ticks) {
    parts.push(`<line class="axis" x1="${x(value)}" x2="${x(value)}" y1="${bottom}" y2="${bottom + 3}"/>`);
    parts.push(`<text class="tick" x="${x(value)}" y="${bottom + 14}" text-anchor="middle">${escape(label)}</text>`);
  }
  parts.push(`<line class="axis" x1="${frame.left}" x2="${right}" y1="${bottom}" y2="${bottom}"/>`);
  parts.push(`<text class="tick" x="${right}" y="${height - 2}" text-anchor="end">${escape(one.xTitle)}</text>`);
  if (one.diagonal)
    parts.push(`<line class="reference" x1="${frame.left}" y1="${bottom}" x2="${right}" y2="${frame.top}"/>`);
  if (one.limit) {
    const at = y(one.limit.y);
    parts.push(`<line class="reference" x1="${frame.left}" x2="${right}" y1="${at}" y2="${at}"/>`);
    parts.push(`<text class="note" x="${frame.left + 4}" y="${at - 3}">${escape(one.limit.label)}</text>`);
  }
  if (one.mark) {
    const at = x(one.mark.x);
    const left = at > frame.left + inner.width * 0.6;
    parts.push(`<line class="mark" x1="${at}" x2="${at}" y1="${frame.top}" y2="${bottom}"/>`);
    parts.push(
      `<text class="note strong" x="${left ? at - 4 : at + 4}" y="${bottom - 5}" text-anchor="${left ? 'end' : 'start'}">${escape(one.mark.label)}</text>`,
    );
  }
  for (const line of (one.lines ?? []).toSorted((a, b) => layer[b.look] - layer[a.look]))
    parts.push(drawLine(line, x, y));
  for (const dot of one.dots ?? []) parts.push(`<circle class="dot" cx="${x(dot.x)}" cy="${y(dot.y)}" r="1.6"/>`);
  return `<div class="panel ${familyOf(one.strategy)}"><h4>${escape(one.title)}</h4><svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${escape(one.summary)}">${parts.join('')}</svg></div>`;
}

const layer = { main: 0, second: 1, third: 2, context: 3 };

function drawLine({ points, look, label }: Line, x: (value: number) => number, y: (value: number) => number): string {
  if (points.length === 0) return '';
  const path = points.map((point, place) => `${place === 0 ? 'M' : 'L'}${x(point.x)} ${y(point.y)}`).join('');
  const parts = [`<path class="line ${look}" d="${path}"/>`];
  if (look === 'main') {
    for (const point of points) {
      if (point.low !== undefined && point.high !== undefined && point.high > point.low) {
        parts.push(
          `<line class="whisker" x1="${x(point.x)}" x2="${x(point.x)}" y1="${y(point.low)}" y2="${y(point.high)}"/>`,
        );
      }
      if (point.hollow !== undefined) {
        parts.push(
          `<circle class="point${point.hollow ? ' hollow' : ''}" cx="${x(point.x)}" cy="${y(point.y)}" r="2.6"/>`,
        );
      }
    }
  }
  const last = points.at(-1)!;
  if (label)
    parts.push(
      `<text class="note ${look}" x="${x(last.x)}" y="${y(last.y) - 6}" text-anchor="end">${escape(label)}</text>`,
    );
  return parts.join('');
}

export const panels = (all: readonly Panel[]): string => `<div class="panels">${all.map(panel).join('\n')}</div>`;

export interface Bar {
  strategy: string;
  value?: number;
  low?: number;
  high?: number;
  /** Shown at the end; absent values say why. */
  label: string;
}

/** One row per strategy, from 0: length is the value, the thin line its interval. */
export function bars(rows: readonly Bar[]): string {
  const most = Math.max(...rows.map(({ value, high }) => Math.max(value ?? 0, high ?? 0)), 0);
  const share = (value: number) => round((most === 0 ? 0 : value / most) * 100 * 10) / 10;
  const row = ({ strategy, value, low, high, label }: Bar) => {
    const bar = value === undefined ? '' : `<rect class="bar" x="0" y="2" width="${share(value)}" height="10"/>`;
    const whisker =
      low !== undefined && high !== undefined && high > low
        ? `<line class="whisker" x1="${share(low)}" x2="${share(high)}" y1="7" y2="7"/>` // prettier-ignore
        : '';
    return `<div class="row ${familyOf(strategy)}"><span class="name">${escape(strategy)}</span><svg viewBox="0 0 100 14" preserveAspectRatio="none" aria-hidden="true">${bar}${whisker}</svg><span class="value">${escape(label)}</span></div>`;
  };
  return `<div class="bars">${rows.map(row).join('\n')}</div>`;
}

/** One mark per strategy on a logarithmic line: for figures that differ by a hundred times. The thin line is the interval. */
export function marks(rows: readonly Bar[]): string {
  const values = rows.flatMap(({ value, low, high }) =>
    [value, low, high].filter((one) => one !== undefined && one > 0),
  ) as number[];
  const scale = logScale(Math.min(...values) / 1.3, Math.max(...values) * 1.1, [], String);
  const at = (value: number) => round(scale.at(value) * 100 * 10) / 10;
  const row = ({ strategy, value, low, high, label }: Bar) => {
    const whisker =
      low !== undefined && high !== undefined && high > low
        ? `<line class="whisker" x1="${at(low)}" x2="${at(high)}" y1="7" y2="7"/>`
        : '';
    const mark = value === undefined ? '' : `<rect class="bar" x="${at(value) - 0.5}" y="2" width="1" height="10"/>`;
    return `<div class="row ${familyOf(strategy)}"><span class="name">${escape(strategy)}</span><svg viewBox="0 0 100 14" preserveAspectRatio="none" aria-hidden="true"><rect class="track" x="0" y="6.75" width="100" height="0.5"/>${whisker}${mark}</svg><span class="value">${escape(label)}</span></div>`;
  };
  return `<div class="bars">${rows.map(row).join('\n')}</div>`;
}

export interface Stack {
  strategy: string;
  parts: { look: string; value: number }[];
  label: string;
}

/** Shares of a whole: each row is as long as the others, its size stands at the end. */
export function stacks(rows: readonly Stack[], legend: { look: string; label: string }[]): string {
  const keys = legend.map(({ look, label }) => `<span><i class="key ${look}"></i>${escape(label)}</span>`).join('');
  const row = ({ strategy, parts, label }: Stack) => {
    const whole = parts.reduce((sum, { value }) => sum + value, 0);
    let from = 0;
    const rects = parts.map(({ look, value }) => {
      const length = whole === 0 ? 0 : (value / whole) * 100;
      const rect = `<rect class="${look}" x="${round(from)}" y="1" width="${round(length)}" height="12"/>`;
      from += length;
      return rect;
    });
    return `<div class="row ${familyOf(strategy)}"><span class="name">${escape(strategy)}</span><svg viewBox="0 0 100 14" preserveAspectRatio="none" aria-hidden="true">${rects.join('')}</svg><span class="value">${escape(label)}</span></div>`;
  };
  return `<p class="legend">${keys}</p><div class="bars">${rows.map(row).join('\n')}</div>`;
}

export interface Dumbbell {
  strategy: string;
  from?: number;
  to?: number;
  label: string;
}

/** Before and during on one logarithmic line. */
export function dumbbells(rows: readonly Dumbbell[], low: number, high: number): string {
  const scale = logScale(low, high, [], String);
  const at = (value: number) => round(1 + scale.at(value) * 98);
  const row = ({ strategy, from, to, label }: Dumbbell) => {
    const [a, b] = [from === undefined ? undefined : at(from), to === undefined ? undefined : at(to)];
    const link =
      a !== undefined && b !== undefined
        ? `<rect class="bar" x="${Math.min(a, b)}" y="6" width="${Math.max(0.4, round(Math.abs(b - a)))}" height="2"/>`
        : '';
    const dot = (value: number | undefined, look: string) =>
      value === undefined ? '' : `<rect class="${look}" x="${value - 0.5}" y="2" width="1" height="10"/>`;
    return `<div class="row ${familyOf(strategy)}"><span class="name">${escape(strategy)}</span><svg viewBox="0 0 100 14" preserveAspectRatio="none" aria-hidden="true"><rect class="track" x="0" y="6.75" width="100" height="0.5"/>${link}${dot(a, 'muted')}${dot(b, 'bar')}</svg><span class="value">${escape(label)}</span></div>`;
  };
  return `<div class="bars">${rows.map(row).join('\n')}</div>`;
}

export const legend = (entries: { look: string; label: string }[]): string =>
  `<p class="legend">${entries.map(({ look, label }) => `<span><svg viewBox="0 0 24 8" class="sample" aria-hidden="true"><path class="line ${look}" d="M1 4L23 4"/></svg>${escape(label)}</span>`).join('')}</p>`;

export const shown = (value: number | undefined, unit: string): string =>
  value === undefined ? 'not measured' : `${figure(value)} ${unit}`;
