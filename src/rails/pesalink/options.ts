import type { Clock } from '../../lib/clock.ts'
import type { ShareToken } from '../token-cache.ts'

/** One bank's API for PesaLink, in Jenga's shape. */
export type PesalinkOptions = {
  baseUrl: string
  apiKey: string
  merchantCode: string
  consumerSecret: string
  /** RSA private key (PEM) whose public half the bank holds. */
  privateKeyPem: string
  source: { countryCode: string; name: string; accountNumber: string }
  /** Our bank codes in the bank's numbering ("0012" here is "57" there). A code that is not listed is refused, never guessed. */
  bankCodes: Readonly<Record<string, string>> | 'as_given'
  /** The codes of the bank's documentation that prove that no money moved. Any other code of a failure is `unknown`. */
  failureCodes: readonly string[]
  /** The field of the request for a delivery URL, where the bank has one; null: the outcome is known only by query. */
  callbackField: string | null
  timeoutMs: number
  /** The code of our bank, for people who pay in from another one; null: switched off. */
  depositBankCode: string | null
  /** Where the bank takes the address for notices of deposits; null: it is entered there by hand. */
  noticePath: string | null
  /** Where the bank answers whose account it is; banks differ, and publish no path. Null: it is not asked. */
  lookUpPath: string | null
}

export type PesalinkDeps = { clock: Clock; shareToken?: ShareToken }

/** Jenga's, below `baseUrl`. */
export const paths = {
  token: '/authentication/api/v3/authenticate/merchant',
  transfer: '/transaction-api/v3.0/remittance',
  query: '/transaction-api/v3.0/transactions/details',
} as const
