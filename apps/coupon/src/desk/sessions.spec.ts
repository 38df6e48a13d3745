import { describe, expect, it } from 'vitest';
import { DeskSessions } from './sessions.js';

const ann = { id: '1', key: 'desk:42:editor' };
const ben = { id: '2', key: 'desk:42:reviewer' };
const eve = { id: '3', key: 'desk:42:editor' };

describe('the sessions of a process', () => {
  it('are found by their seat, and their seat by them', () => {
    const sessions = new DeskSessions<typeof ann>();
    for (const each of [ann, ben]) sessions.add(each);
    expect([sessions.at(ann.key), sessions.at(ben.key), sessions.at('desk:7:editor')]).toEqual([ann, ben, undefined]);
    expect([sessions.seatOf('1'), sessions.seatOf('2'), sessions.seatOf('3')]).toEqual([ann.key, ben.key, undefined]);
    expect([[...sessions], sessions.size]).toEqual([[ann, ben], 2]);
  });

  it('leave once, and take no seat from whoever has come after them', () => {
    const sessions = new DeskSessions<typeof ann>();
    sessions.add(ann);
    sessions.add(eve);
    expect([sessions.remove(ann), sessions.remove(ann)]).toEqual([true, false]);
    expect([sessions.at(ann.key), sessions.seatOf('1'), sessions.size]).toEqual([eve, undefined, 1]);
    sessions.remove(eve);
    expect([sessions.at(ann.key), sessions.size]).toEqual([undefined, 0]);
  });
});
