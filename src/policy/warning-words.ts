import { displayAmount } from '../lib/money.ts'
import type { VerificationStatus } from '../lib/verification.ts'
import type { Maker, Warning } from './types.ts'

const who = ({ grantId, label }: Maker): string =>
  grantId === null ? 'a person' : label === null ? 'a key or an agent' : `the key or agent ${JSON.stringify(label)}`

const notConfirmed = {
  no_match: (name: string) => `The rail reports another name for this number: ${name}.`,
  match: (name: string) => `The rail reports this name: ${name}.`,
  close_match: (name: string) => `The rail reports a similar name: ${name}.`,
  unavailable: () => 'The rail gave no name for this number.',
  unverified: () => 'The rail was not asked whose number this is.',
} as const

/** What is said of a name that the rail does not confirm. */
export const nameWarning = (verification: VerificationStatus, name: string | null): string =>
  notConfirmed[verification](name ?? 'none')

/** Whether a sentence is one of those. */
export const isNameWarning = (sentence: string): boolean => /^The rail (reports|gave|was) /.test(sentence)

const words: { readonly [Code in Warning['code']]: (warning: Extract<Warning, { code: Code }>, currency: string) => string } = {
  possible_duplicate: ({ createdAt }) =>
    `It looks like a payment of ${createdAt
      .toISOString()
      .replace(/:\d\d\.\d+Z$/, ' UTC')
      .replace('T', ' ')}: the same beneficiary, amount and reference.`,
  name_differs: ({ name, givenName }) => `The list calls ${JSON.stringify(name)} by another name, ${JSON.stringify(givenName)}.`,
  new_payee: ({ by }) => `The beneficiary was created by ${who(by)}, and no person has confirmed it.`,
  changed_payee: ({ by }) => `The name of the beneficiary was changed by ${who(by)}.`,
  similar_name: ({ name }) => `Never paid before, and its name looks like that of another beneficiary, ${JSON.stringify(name)}.`,
  name_mismatch: ({ verification, name }) => nameWarning(verification, name),
  unusual_amount: ({ typicalAmountMinor }, currency) =>
    `The amount is more than five times what this beneficiary usually gets, ${displayAmount(typicalAmountMinor, currency)}.`,
}

/** A warning in one sentence, for the text that an approver signs. */
export const warningText = (warning: Warning, currency: string): string =>
  (words[warning.code] as (warning: Warning, currency: string) => string)(warning, currency)
