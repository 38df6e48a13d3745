// Every cell, every contender, every round, in turns.
import { Bench } from './bench.js';
import { contenderNamed } from './contenders/index.js';
import type { Cell, Plan } from './plan.js';
import { say, TimeLeft } from './progress.js';
import type { CellResult, Results, Row } from './results.js';
import { ContenderFailed } from './workers.js';

/** Those that can be loaded; for the others it says why not. */
async function loadable(cells: readonly Cell[], missing: Results['missing']): Promise<Set<string>> {
  const names = new Set(cells.flatMap((cell) => cell.contenders));
  for (const name of names) {
    try {
      await contenderNamed(name).load();
    } catch (error) {
      const [reason] = (error instanceof Error ? error.message : String(error)).split('\n');
      missing.push({ contender: name, reason: `not installed, or not to be loaded (${reason})` });
      names.delete(name);
      say(`NOT MEASURED: ${name}: ${reason}`);
    }
  }
  return names;
}

export async function measureAll(wanted: Plan, bench: Bench, missing: Results['missing']): Promise<CellResult[]> {
  const able = await loadable(wanted.cells, missing);
  const cells = wanted.cells.map(({ contenders: names, counted, ...cell }) => {
    const rows: Row[] = names.filter((name) => able.has(name)).map((contender) => ({ contender, blocks: [] }));
    return { cell: { ...cell, contenders: names, counted }, result: { ...cell, rows } };
  });
  const guess = (cell: Cell) => Bench.guessMs(cell, wanted);
  const passes = (cell: Cell) => wanted.rounds + (cell.counted ? 1 : 0);
  const left = new TimeLeft(
    cells.reduce((sum, { cell, result }) => sum + guess(cell) * result.rows.length * passes(cell), 0),
  );

  /** A contender that cannot go on costs its own figures only. */
  const each = async (cell: Cell, rows: readonly Row[], work: (row: Row) => Promise<void>) => {
    for (const row of rows) {
      try {
        if (able.has(row.contender)) await work(row);
      } catch (error) {
        if (!(error instanceof ContenderFailed)) throw error;
        able.delete(row.contender);
        missing.push({ contender: row.contender, reason: `gave up at "${cell.name}" (${error.message})` });
        say(`NOT MEASURED any more: ${row.contender}: ${error.message}`);
      }
      left.done(guess(cell));
    }
  };

  for (const { cell, result } of cells.filter((one) => one.cell.counted)) {
    say(`counting commands: ${cell.name}; ${left.text()}`);
    await each(cell, result.rows, async (row) => {
      row.counts = await bench.counted(row.contender, cell);
    });
  }
  for (let round = 0; round < wanted.rounds; round += 1) {
    for (const { cell, result } of cells) {
      say(`round ${round + 1} of ${wanted.rounds}: ${cell.name}; ${left.text()}`);
      // In an order that turns by one each time: nobody is always the one after the slowest.
      const turned = result.rows.map((_row, at) => result.rows[(at + round) % result.rows.length]!);
      await each(cell, turned, async (row) => {
        row.blocks.push(await bench.timed(row.contender, cell));
      });
    }
  }
  return cells.map(({ result }) => result);
}
