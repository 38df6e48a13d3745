import { ApiProperty } from '@nestjs/swagger';

export const ledgerKinds = ['CHARGE', 'SPEND', 'REFUND'] as const;
export type LedgerKind = (typeof ledgerKinds)[number];

export class WalletView {
  @ApiProperty({ type: 'integer' }) balance: number;
}

export class ChargeView {
  @ApiProperty({ type: 'integer' }) ledgerId: number;
  @ApiProperty({ type: 'integer' }) amount: number;
  @ApiProperty({ type: 'integer', description: 'After the charge.' }) balance: number;
}

export class LedgerEntryView {
  @ApiProperty({ type: 'integer' }) ledgerId: number;
  @ApiProperty({ enum: ledgerKinds }) kind: LedgerKind;
  @ApiProperty({ type: 'integer', description: 'Below 0 where points went out.' }) amount: number;
  @ApiProperty({ type: 'integer', description: 'After this entry.' }) balance: number;
  @ApiProperty({ type: 'string', format: 'uuid', nullable: true }) orderId: string | null;
  @ApiProperty({ type: 'string', format: 'date-time' }) at: Date;
}

export class LedgerPage {
  @ApiProperty({ type: [LedgerEntryView] }) items: LedgerEntryView[];
  @ApiProperty({ type: 'string', nullable: true }) nextCursor: string | null;
}
