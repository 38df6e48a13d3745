import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { sampleBlock, sampleRun } from '../../test/load/sample-run.js';
import { figure } from './format.js';
import { betweenMarkers, comparisonTable } from './markdown.js';
import { reportPage } from './page.js';
import { resultsSchema, schemaFile, schemaText } from './results.js';

const run = sampleRun(1);

describe('the table of the README', () => {
  it.each(['en', 'ko'] as const)(
    'in %s has one line per strategy, and says on what and by which command it was made',
    (language) => {
      const table = comparisonTable(run, 'load/results/x/report.html', language);
      const lines = table.split('\n').filter((line) => line.startsWith('| `'));
      expect(lines).toHaveLength(11);
      expect(lines[0]).toContain('**OVERSOLD** 65 / 50');
      expect(table).toContain('commit `abc1234`'.replace('commit', language === 'ko' ? '커밋' : 'commit'));
      expect(table).toContain('`npm run compare`');
      expect(table).toContain('(load/results/x/report.html)');
    },
  );

  it('names the commit of every sitting that measured what it shows', () => {
    const later = { ...run, blocks: run.blocks.map((block) => (block.mode === 'knee' ? block : { ...block, commit: 'def5678' })) }; // prettier-ignore
    expect(comparisonTable(later, 'x')).toContain('commit `def5678`, `abc1234`');
  });

  it('has a dash where a strategy was refused in every round, and for what none cost', () => {
    const refused = run.blocks.map((block) => (block.strategy === 'spin' && block.scenario === 'coupon-flash' ? { ...block, verdict: 'refused' as const, sold: undefined } : block)); // prettier-ignore
    const lines = comparisonTable({ ...run, blocks: refused }, 'x').split('\n');
    const line = (strategy: string) => lines.find((one) => one.startsWith(`| \`${strategy}\``))!;
    expect(line('spin')).toContain('**REFUSED** - / 50');
    expect(line('none')).toMatch(/- \| -\s*\|$/);
  });

  it('goes between its markers and touches nothing else', () => {
    const document = 'before\n<!-- load:begin -->\nold\n<!-- load:end -->\nafter\n';
    const written = betweenMarkers(document, 'load', 'new');
    expect(written).toBe('before\n<!-- load:begin -->\nnew\n<!-- load:end -->\nafter\n');
    expect(betweenMarkers(written, 'load', 'new')).toBe(written);
    expect(() => betweenMarkers('no markers', 'load', 'new')).toThrow('load:begin');
  });
});

describe('a figure', () => {
  it('has no more digits than it is worth', () => {
    expect([0, 0.1234, 4.567, 45.67, 456.7, 45_678].map(figure)).toEqual([
      '0',
      '0.12',
      '4.57',
      '45.7',
      '457',
      '45\u202f678',
    ]);
  });
});

describe('results.json', () => {
  it('has the schema that is committed', () => {
    expect(readFileSync(schemaFile, 'utf8')).toBe(schemaText());
  });

  it('is refused when a block lost its figures', () => {
    expect(resultsSchema.safeParse(run).success).toBe(true);
    const broken = { ...run, blocks: [{ ...run.blocks[0], figures: {} }] };
    expect(resultsSchema.safeParse(broken).success).toBe(false);
  });
});

describe('the page', () => {
  it('shows a breach in red, with its reason, and escapes what it is told', () => {
    const bad = {
      ...sampleBlock('coupon-flash', 'spin', 1),
      verdict: 'breach' as const,
      reasons: ['OVERSOLD: 301 of 300 <b>'],
    };
    const page = reportPage({ ...run, blocks: [sampleBlock('coupon-flash', 'atomic', 1), bad] });
    expect(page).toContain('<span class="chip red">BREACH</span>');
    expect(page).toContain('OVERSOLD: 301 of 300 &lt;b&gt;');
    expect(page).toContain('Not everything was right: spin');
  });

  it('needs nothing from anywhere: no address but its own raw files', () => {
    const page = reportPage(run);
    const addresses = [...page.matchAll(/(?:src|href)="([^"#]+)"/g)].map(([, address]) => address);
    expect(addresses.length).toBeGreaterThan(10);
    for (const address of addresses) expect(address).toMatch(/^(raw\/[\w.-]+|results\.json|data:,)$/);
    expect(page).not.toMatch(/<script|@import|url\(/);
  });
});
