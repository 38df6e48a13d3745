import { defineProblems } from '@firstcome/http';

export const productErrors = defineProblems({
  PRODUCT_NOT_FOUND: {
    status: 404,
    title: 'Product not found',
    detail: 'There is no product with this id. GET /v1/products lists them all.',
  },
});
