import type { Schemas } from '../client/src/route-types.ts'

/** A receipt as the API returns it. Its shape is certain only after its signature has been checked. */
export type Receipt = Schemas['PaymentReceipt']

/** A key of a JSON Web Key Set (RFC 7517, RFC 8037). Times in seconds since 1970. */
export type PublishedKey = { kty: string; crv?: string; kid?: string; x?: string; iat?: number; exp?: number }
