export { accepted } from './accepted.js';
export { AdminOnly, CurrentUser, Public, ServiceOnly, type Access, type AuthOptions, type User } from './auth.js';
export { socketToken } from './bearer.js';
export { decodeCursor, encodeCursor, type CursorPart, type CursorValues } from './cursor.js';
export { createHttpApp, type HttpOptions } from './http-app.js';
export { runHttpApp } from './run-http-app.js';
export { httpErrors } from './http.errors.js';
export { HttpModule, type HttpModuleOptions } from './http.module.js';
export { IdempotencyKey, sendAnswer } from './idempotency-key.js';
export {
  idempotency,
  idempotencyInProgressSql,
  idempotencyTableSql,
  keyId,
  type Answer,
  type IdempotentRequest,
  type SqlExecutor,
  type SqlTransaction,
} from './idempotency.js';
export { onceForEach } from './idempotency-batch.js';
export { purgeAnswers, purgeTableSql } from './idempotency-purge.js';
export { metricsRegistry } from './metrics.js';
export { IfGiven, IsLabel } from './fields.js';
export { page } from './page.js';
export { PageQuery, QueryInt } from './page-query.js';
export { parseId, parseUuid, PathId, PathName, PathUuid } from './path-params.js';
export {
  defineProblems,
  ProblemError,
  type DefinedProblem,
  type ProblemDetail,
  type ProblemFields,
  type ProblemInfo,
  type ProblemTranslator,
} from './problem.js';
export { Problems } from './problems.decorator.js';
export type { ReadinessCheck } from './health.controller.js';
export { listRoutes, type RouteInfo } from './routes.js';
export { ticketErrors } from './ticket.errors.js';
export { TicketModule, type TicketModuleOptions } from './ticket.module.js';
export { AcceptedView } from './ticket.view.js';
export { TicketWorker, type TicketWork } from './ticket-worker.js';
export { ticketRequest, Tickets, ticketTableSql, type Ticket } from './tickets.js';
export { timing } from './timing.js';
export { TokenVerifier } from './token-verifier.js';
export { Upgrades, type UpgradeHandler } from './upgrades.js';
export { uuidv7 } from './uuidv7.js';
