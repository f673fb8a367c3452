import { hasAccounts, phoneRail } from '../../../../src/lib/rail-names.ts'
import { type RailName, railFacts } from '../../lib/rails.ts'

export type BeneficiaryDraft = {
  rail: RailName
  name: string
  destination: string
  bank: string
  legalName: string
  type: string
  /** Of a paybill: the account behind it. Empty: none, or another one with each payment. */
  reference: string
  referenceRequired: boolean
}

export const emptyBeneficiary: BeneficiaryDraft = {
  rail: phoneRail,
  name: '',
  destination: '',
  bank: '',
  legalName: '',
  type: '',
  reference: '',
  referenceRequired: false,
}

const referenceOf = ({ rail, reference, referenceRequired }: BeneficiaryDraft): string =>
  hasAccounts(rail) && !referenceRequired ? reference.trim() : ''

const bankCode = ({ rail, bank }: BeneficiaryDraft): string => (railFacts[rail].bank ? bank : '')

export const isReady = (draft: BeneficiaryDraft): boolean => draft.name.trim() !== '' && draft.destination.trim() !== ''

export const bodyOf = (draft: BeneficiaryDraft) => ({
  type: draft.type.trim() || railFacts[draft.rail].category,
  display_name: draft.name.trim(),
  payment_rail: draft.rail,
  destination: draft.destination.replaceAll(' ', ''),
  ...(draft.legalName.trim() && { legal_name: draft.legalName.trim() }),
  ...(draft.referenceRequired && { account_reference_required: true }),
  ...(referenceOf(draft) && { account_reference: referenceOf(draft) }),
  ...(bankCode(draft) && { bank_code: bankCode(draft) }),
})
