import { AdminOnly, PageQuery, PathId, Problems, Public } from '@firstcome/http';
import { Body, Controller, Get, Post, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse } from '@nestjs/swagger';
import { CreateProductDto, PopularQuery } from './product.dto.js';
import { productErrors } from './product.errors.js';
import { ProductService } from './product.service.js';
import { PopularView, ProductPage, ProductView } from './product.view.js';

@Controller('v1')
export class ProductController {
  constructor(private readonly products: ProductService) {}

  @AdminOnly()
  @Post('admin/products')
  @ApiCreatedResponse({ type: ProductView })
  create(@Body() product: CreateProductDto): Promise<ProductView> {
    return this.products.create(product);
  }

  @Public()
  @Get('products')
  @ApiOkResponse({ type: ProductPage })
  list(@Query() query: PageQuery): Promise<ProductPage> {
    return this.products.list(query);
  }

  @Public()
  @Get('products/popular')
  @ApiOkResponse({ type: PopularView })
  popular(@Query() query: PopularQuery): Promise<PopularView> {
    return this.products.popular(query);
  }

  @Public()
  @Get('products/:id')
  @ApiOkResponse({ type: ProductView })
  @Problems(productErrors.PRODUCT_NOT_FOUND)
  find(@PathId('id') id: number): Promise<ProductView> {
    return this.products.find(id);
  }
}
