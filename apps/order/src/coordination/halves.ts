// The names of the two halves of an order that is committed in two phases. The databases may share a server, where a name is
// one of all its databases: so each half has its own.

export const orderHalf = (orderId: string): string => `firstcome-${orderId}-order`;
export const couponHalf = (orderId: string): string => `firstcome-${orderId}-coupon`;

/** Of a name that is ours; there may be prepared transactions of others. */
export const orderOfHalf = (gid: string): string | undefined => /^firstcome-([0-9a-f-]{36})-order$/.exec(gid)?.[1];
