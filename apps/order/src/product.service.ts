import { decodeCursor, page } from '@firstcome/http';
import type { PageQuery } from '@firstcome/http';
import { Injectable } from '@nestjs/common';
import type { CreateProductDto, PopularQuery } from './product.dto.js';
import { productErrors } from './product.errors.js';
import { ProductRepository } from './product.repository.js';
import type { ProductRow } from './product.repository.js';
import type { PopularView, ProductPage, ProductView } from './product.view.js';

@Injectable()
export class ProductService {
  constructor(private readonly products: ProductRepository) {}

  async create({ name, options }: CreateProductDto): Promise<ProductView> {
    const row = await this.products.create(name, {
      names: options.map((option) => option.name),
      prices: options.map((option) => option.price),
      stocks: options.map((option) => option.stock),
    });
    return productView(row);
  }

  async find(id: number): Promise<ProductView> {
    const row = await this.products.find(id);
    if (!row) throw productErrors.PRODUCT_NOT_FOUND();
    return productView(row);
  }

  async popular({ days, limit }: PopularQuery): Promise<PopularView> {
    const { asOf, products } = await this.products.popular(days, limit);
    return { asOf, items: products.map(({ id, name, options, sold }) => ({ productId: id, name, options, sold })) };
  }

  async list({ limit, cursor }: PageQuery): Promise<ProductPage> {
    const [before] = cursor ? decodeCursor(cursor, ['int']) : [];
    return page(await this.products.page(before, limit + 1), limit, productView);
  }
}

function productView({ id, name, options }: ProductRow): ProductView {
  return { productId: id, name, options };
}
