import type { PolicyWireField } from '../../../src/policy/fields.ts'
import { railFacts, rails } from './rails.ts'
import { fullTime } from './time.ts'
import { capitalized } from './words.ts'

const ofPolicy: Readonly<Record<PolicyWireField, string>> = {
  per_payment_limit_minor: 'the per-payment limit',
  daily_limit_minor: 'the daily limit',
  monthly_limit_minor: 'the monthly limit',
  total_limit_minor: 'the total limit',
  approval_threshold_minor: 'the approval threshold',
  required_approval_count: 'the number of approvals',
  separation_of_duties: 'who may approve',
  approval_proof: 'which approvals count',
  approver_ids: 'who alone approves',
  beneficiary_ids: 'the beneficiaries',
  payment_types: 'the payment types',
  duplicate_window_seconds: 'how recent',
  on_duplicate: 'what a repeated payment gets',
  payee_verification: 'what a payment to a beneficiary gets whose name the payment method has not confirmed',
  new_payees: 'what a payment to a beneficiary that no person has confirmed gets',
}

/** The labels of the API's field names: the service's messages about a field are shown to people. */
const names: readonly (readonly [field: string, words: string])[] = [
  ['max_per_payment_minor', 'the per-payment limit'],
  ['max_total_minor', 'the total limit'],
  ['max_payments', 'the number of payments'],
  ['account_reference_required', 'whether a reference is required'],
  ['purpose_code', 'the purpose code'],
  ['account_reference', 'the account reference'],
  ['payment_type', 'the payment type'],
  ['payment_rail', 'the payment method'],
  ['destination', 'the destination'],
  ['bank_code', 'the bank'],
  ['phone_number', 'the phone number'],
  ['amount_minor', 'the amount'],
  ['display_name', 'the name'],
  ['legal_name', 'the legal name'],
  ['wallet_address', 'the wallet address'],
  ['spending_controls', 'the limits'],
  ['time_zone', 'the time zone'],
  ['expires_at', 'the end date'],
  ['valid_from', 'the start date'],
]

/** Terms of the API that no page has. */
const terms: readonly (readonly [term: RegExp, words: string])[] = [
  // The amount is named by what is said of it.
  [/(^|; )amount_minor: (?=[A-Z])/g, '$1'],
  // "the amount: must be more" → "the amount must be more"
  [/(^|; )([a-z_]+): (?=(must|is|may) )/g, '$1$2 '],
  [/: a multiple of 100 minor units/g, ''],
  [/whole units of [A-Z]{3}/g, 'whole shillings'],
  [/\bgrant that initiated the payment/g, 'key or agent that requested the payment'],
]

/** A message of the service as a sentence with labels in place of field names, and times in the workspace's zone. */
export const plainWords = (message: string): string =>
  capitalized(
    [...Object.entries(ofPolicy), ...names, ...rails.map((rail) => [rail, railFacts[rail].label] as const)].reduce(
      (text, [field, words]) => text.replaceAll(new RegExp(`["“]?\\b${field}\\b["”]?`, 'g'), words),
      terms.reduce((text, [term, words]) => text.replace(term, words), message.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, fullTime)),
    ),
  )
