export {
  ApiError,
  ApiKeyError,
  AuthenticationError,
  ConnectionError,
  GrantError,
  InvalidRequestError,
  PartnerNetworkError,
  RateLimitError,
  ServerError,
  TimeoutError,
} from './errors.ts';
export { type BalancesPage, type BrandsPage, PartnerNetwork } from './network.ts';
export type { CallOptions, PartnerNetworkOptions, RequestEvent, ResponseEvent } from './options.ts';
export type { PageList } from './page-list.ts';
export type {
  Balance,
  Brand,
  ErrorCategory,
  ErrorCode,
  ErrorRecord,
  ListBalancesParams,
  ListBrandsParams,
} from './wire.ts';
