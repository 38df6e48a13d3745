import { defineProblems } from '@firstcome/http';

// Refusals of an issue are checked in this order under every strategy (CONTRACT.md section 3.2).
export const couponErrors = defineProblems({
  COUPON_NOT_FOUND: {
    status: 404,
    title: 'Coupon not found',
    detail: 'There is no coupon with this id. GET /v1/coupons?status=issuable lists those that can be had now.',
  },
  COUPON_NOT_STARTED: {
    status: 409,
    title: 'Coupon not started',
    detail: 'Issuing has not begun. Ask again after the coupon’s startsAt.',
  },
  COUPON_ENDED: {
    status: 409,
    title: 'Coupon ended',
    detail: 'Issuing is over: the coupon’s endsAt has passed. There will be no more of it.',
  },
  COUPON_PAUSED: {
    status: 409,
    title: 'Coupon paused',
    detail: 'Issuing is paused by an administrator. Ask again once the coupon’s status is ISSUABLE.',
  },
  COUPON_ALREADY_ISSUED: {
    status: 409,
    title: 'Coupon already issued',
    detail: 'You already have as many of this coupon as one user may have; userCouponId names yours.',
  },
  COUPON_SOLD_OUT: {
    status: 409,
    title: 'Coupon sold out',
    detail: 'All of this coupon have been given out. Nothing was issued to you; do not repeat the request.',
  },
  COUPON_RULES_INVALID: {
    status: 422,
    title: 'Coupon rules make no sense',
    detail: 'Each field is well-formed, but together they make no coupon; errors[] says which to change.',
  },
  COUPON_TOTAL_BELOW_ISSUED: {
    status: 409,
    title: 'Total below what is issued',
    detail: 'More of this coupon have been given out than the new total allows. Send a total of at least issued.',
  },
  USER_COUPON_NOT_FOUND: {
    status: 404,
    title: 'User coupon not found',
    detail: 'This user has no such coupon. Check the user coupon’s id and the user.',
  },
  COUPON_NOT_USABLE: {
    status: 409,
    title: 'Coupon not usable',
    detail: 'The user coupon is used, reserved by another order, expired or revoked. Order without it, or use another.',
  },
  USER_COUPON_NOT_REVOCABLE: {
    status: 409,
    title: 'User coupon not revocable',
    detail: 'Only a user coupon that is ISSUED can be revoked: this one is used, expired, or reserved by an order.',
  },
  DESK_TAKEN: {
    status: 409,
    title: 'Somebody else has the seat',
    detail:
      'Nothing was changed. GET /v1/admin/coupons/{id}/desk says who sits at the coupon’s desk; ask that one to leave.',
  },
  MIN_ORDER_NOT_MET: {
    status: 422,
    title: 'Minimum order not met',
    detail: 'The subtotal is below the coupon’s minOrder. Add to the order, or order without the coupon.',
  },
  STRATEGY_UNKNOWN: {
    status: 400,
    title: 'Strategy unknown',
    detail: 'X-Issue-Strategy names no strategy of this service. Send one of those listed, or leave the header out.',
  },
});
