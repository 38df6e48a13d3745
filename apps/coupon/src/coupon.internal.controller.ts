import { httpErrors, Problems, ServiceOnly } from '@firstcome/http';
import { All, Controller } from '@nestjs/common';
import { ApiExcludeEndpoint } from '@nestjs/swagger';

/** Between the apps. A path that does not exist yet says so to the other app only; everybody else is refused first. */
@ServiceOnly()
@Controller('internal')
export class CouponInternalController {
  @All('*')
  @ApiExcludeEndpoint()
  @Problems(httpErrors.ROUTE_NOT_FOUND)
  absent(): never {
    throw httpErrors.ROUTE_NOT_FOUND();
  }
}
