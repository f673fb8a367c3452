import type { Schemas } from '../client/src/route-types.ts'

/** A receipt as the API returns it. Before its signature has been checked, it may have any shape. */
export type Receipt = Schemas['PaymentReceipt']

/** A key in a JSON Web Key Set (RFC 7517, RFC 8037). Times are in seconds since 1970. */
export type PublishedKey = { kty: string; crv?: string; kid?: string; x?: string; iat?: number; exp?: number }
