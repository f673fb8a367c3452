import type { Schemas } from '../client/src/route-types.ts'

/** A receipt as the API returns it. What a stranger hands in is only known to be one after its signature was checked. */
export type Receipt = Schemas['PaymentReceipt']

/** A key of a JSON Web Key Set (RFC 7517, RFC 8037). Times in seconds since 1970. */
export type PublishedKey = { kty: string; crv?: string; kid?: string; x?: string; iat?: number; exp?: number }
