import type { FastifyInstance } from 'fastify'
import {
  type DepositOf,
  type DepositRail,
  type Provider as ProviderName,
  providerOf,
  providers,
  type RailOf,
  type SendingRail,
} from '../lib/rail-names.ts'
import type { Movement } from './book.ts'
import { registerDaraja } from './daraja-routes.ts'
import { renderConfirmation, renderNotification } from './deposits.ts'
import type { Respond } from './faults.ts'
import { renderB2b, renderB2c, renderTimeout } from './payout-results.ts'
import type { Render, Rendering } from './perform.ts'
import { renderTransfer } from './pesalink-endpoints.ts'
import { registerPesalink } from './pesalink-routes.ts'
import type { Provider } from './provider.ts'
import { bankStatement, mpesaStatement } from './statement.ts'
import { renderCallback } from './stk-endpoint.ts'

/** What plays one provider. */
type Emulated<P extends ProviderName> = {
  /** Its paths, checks and answers. */
  register: (app: FastifyInstance, provider: Provider, respond: Respond) => void
  /** The form of an outcome on each of its rails that a client sends by. */
  renderings: Readonly<Record<SendingRail & RailOf<P>, Rendering>>
  /** The form of the notice of a deposit. */
  deposits: Readonly<Record<DepositOf<P>, Render>>
  /** The rows of its statement, the names of the columns first. */
  statement: (movements: readonly Movement[]) => string[][]
}

/** Every provider that is emulated: the one list that routes, results, statements and credentials are views of. */
export const emulated: { readonly [P in ProviderName]: Emulated<P> } = {
  MPESA: {
    register: registerDaraja,
    renderings: {
      MPESA_STK: { result: renderCallback, timeout: () => ({}) },
      MPESA_B2C: { result: renderB2c, timeout: renderTimeout },
      MPESA_B2B: { result: renderB2b, timeout: renderTimeout },
    },
    deposits: { MPESA_PAYBILL: renderConfirmation },
    statement: mpesaStatement,
  },
  PESALINK: {
    register: registerPesalink,
    renderings: { PESALINK: { result: renderTransfer, timeout: () => ({}) } },
    deposits: { PESALINK: renderNotification },
    statement: bankStatement,
  },
}

/** The form of an outcome on every rail. */
export const renderings: Readonly<Record<SendingRail, Rendering>> = Object.assign(
  {},
  ...providers.map((provider) => emulated[provider].renderings),
)

export const depositForms: Readonly<Record<DepositRail, Render>> = Object.assign(
  {},
  ...providers.map((provider) => emulated[provider].deposits),
)

const quote = (text: string): string => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

/** The statement of the organisation's account at a provider, with the columns of its portal. */
export const statementCsv = (movements: readonly Movement[], provider: ProviderName): string => {
  const rows = emulated[provider].statement(movements.filter(({ rail }) => providerOf(rail) === provider))
  return `${rows.map((row) => row.map(quote).join(',')).join('\n')}\n`
}
