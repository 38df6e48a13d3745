import { Database, sql } from '@firstcome/postgres';
import { Injectable } from '@nestjs/common';
import type { OptionView } from './product.view.js';

export interface ProductRow {
  id: number;
  name: string;
  options: OptionView[];
}

/** Options as they are created: one array per column. */
export interface NewOptions {
  names: string[];
  prices: number[];
  stocks: number[];
}

const createStatement = sql(
  'product-create',
  `with product as (
     insert into products (name) values ($1) returning id, name
   ), option as (
     insert into options (product_id, position, name, price, initial_stock, on_hand)
     select product.id, line.position, line.name, line.price, line.stock, line.stock
       from product, unnest($2::text[], $3::bigint[], $4::bigint[]) with ordinality as line (name, price, stock, position)
      order by line.position
     returning id, position, name, price, on_hand
   )
   select product.id, product.name,
          (select json_agg(json_build_object('optionId', o.id, 'name', o.name, 'price', o.price, 'available', o.on_hand)
                           order by o.position) from option o) as options
     from product`,
);

const productColumns = `p.id, p.name,
  (select json_agg(json_build_object('optionId', o.id, 'name', o.name, 'price', o.price, 'available', o.on_hand - o.reserved)
                   order by o.position)
     from options o where o.product_id = p.id) as options`;

const findStatement = sql('product-find', `select ${productColumns} from products p where p.id = $1`);

const pageStatement = sql(
  'product-page',
  `select ${productColumns} from products p where p.id < coalesce($1::bigint, 9007199254740992) order by p.id desc limit $2`,
);

// One row says when it was asked, also where nothing was sold; the clock is the database's, like that of paid_at.
const popularStatement = sql(
  'product-popular',
  `with sold as (
     select o.product_id as id, sum(i.quantity) as sold
       from orders paid
       join order_items i on i.order_id = paid.id
       join options o on o.id = i.option_id
      where paid.status = 'PAID' and paid.paid_at > now() - make_interval(days => $1::int)
      group by o.product_id
      order by sold desc, id desc limit $2
   )
   select now() as "asOf", sold.sold::bigint as sold, p.*
     from (select 1) once
     left join sold on true
     left join lateral (select ${productColumns} from products p where p.id = sold.id) p on true
    order by sold.sold desc nulls last, sold.id desc`,
);

@Injectable()
export class ProductRepository {
  constructor(private readonly database: Database) {}

  async create(name: string, { names, prices, stocks }: NewOptions): Promise<ProductRow> {
    const [row] = await this.database.query<ProductRow>(createStatement, [name, names, prices, stocks]);
    return row!;
  }

  async find(id: number): Promise<ProductRow | undefined> {
    const [row] = await this.database.query<ProductRow>(findStatement, [id]);
    return row;
  }

  /** Most sold first, in orders of the last `days`. */
  async popular(days: number, limit: number): Promise<{ asOf: Date; products: (ProductRow & { sold: number })[] }> {
    type Row = ProductRow & { asOf: Date; sold: number | null };
    const rows = await this.database.query<Row>(popularStatement, [days, limit]);
    const products = rows.flatMap(({ sold, ...product }) => (sold === null ? [] : [{ ...product, sold }]));
    return { asOf: rows[0]!.asOf, products };
  }

  /** Newest first, those after the product `before`. */
  page(before: number | undefined, limit: number): Promise<ProductRow[]> {
    return this.database.query<ProductRow>(pageStatement, [before ?? null, limit]);
  }
}
