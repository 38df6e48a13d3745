// How figures are written, the same in the page, the tables and the terminal.
import type { Interval } from '../statistics.js';
import { absent } from './html.js';

const isInterval = (value: number | Interval): value is Interval => typeof value === 'object';
const mid = (value: number | Interval) => (isInterval(value) ? value.mid : value);

/** No more digits than a median of five blocks has, and a thin space between thousands. */
export function figure(value: number): string {
  const size = Math.abs(value);
  const digits = size === 0 || size >= 100 ? 0 : size >= 10 ? 1 : 2;
  const text = value
    .toFixed(digits)
    .replace(/(\.\d*?)0+$/, '$1')
    .replace(/\.$/, '');
  return text.replace(/\B(?=(\d{3})+(?!\d))(?<!\.\d*)/g, '\u202f');
}

export const ms = (value: number | Interval): string => `${figure(mid(value))} ms`;
export const seconds = (value: number | Interval): string => `${figure(mid(value) / 1000)} s`;
export const perSecond = (value: number | Interval): string => `${figure(mid(value))}/s`;
export const percent = (value: number): string => `${figure(Math.round(value * 1000) / 10)} %`;
export const times = (value: number): string => `${figure(value)}×`;

/** `12 (10 to 15)`, or the figure alone where there was one round only. */
export function withInterval(value: Interval | undefined, scale = 1): string {
  if (!value) return 'not measured';
  const { low, mid: middle, high } = value;
  return low === high
    ? figure(middle / scale)
    : `${figure(middle / scale)} (${figure(low / scale)} to ${figure(high / scale)})`;
}

/** The same for a cell of the page: the interval stands small under its figure. */
export function intervalCell(value: Interval | undefined, scale = 1): string {
  if (!value) return absent;
  const { low, mid: middle, high } = value;
  const range = low === high ? '' : `<small>${figure(low / scale)} to ${figure(high / scale)}</small>`;
  return `${figure(middle / scale)}${range}`;
}
