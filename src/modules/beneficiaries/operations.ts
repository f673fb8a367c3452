import type { OperationTexts } from '../../http/operation-text.ts'

export const beneficiariesOperations = {
  'beneficiaries.create': {
    summary: 'Create a beneficiary',
    text: 'Stores a payee, once, before the first payment. The destination cannot be changed later, and no answer contains it: only its mask. `warnings` names others that have the same number.',
  },
  'beneficiaries.banks': {
    summary: 'List banks',
    text: 'The banks whose accounts PesaLink pays here, with the codes that `bank_code` takes. `1` and `01` are one code.',
  },
  'beneficiaries.list': {
    summary: 'List beneficiaries',
    text: 'The beneficiaries of the workspace, newest first. Archived ones are left out unless they are requested.',
  },
  'beneficiaries.get': {
    summary: 'Read a beneficiary',
    text: 'One beneficiary, archived ones included: past payments refer to it.',
  },
  'beneficiaries.update': {
    summary: 'Change or freeze a beneficiary',
    text: 'Corrects its names, or freezes payments to it with `{"status": "frozen"}` and allows them again with `active`. To pay another destination, archive this one and create another.',
  },
  'beneficiaries.confirm': {
    summary: 'Confirm a beneficiary',
    text: 'A person has checked who is paid: keys and agents may then pay it without asking. Needed for a beneficiary that a key or an agent created or renamed; approving a payment to it does the same. Doing it again gives the same answer.',
  },
  'beneficiaries.verify': {
    summary: "Check a beneficiary's name",
    text: 'Asks the rail again whose number it is. The answer comes later: `verification` changes, and the event `beneficiary.updated` reports it. Asked again within a minute of the last check, nothing happens. 503 `provider_not_configured` where the rail is not asked for names (`NAME_LOOKUPS`).',
  },
  'beneficiaries.verifications': {
    summary: 'List name checks',
    text: 'Every check of the name at the rail, newest first: by a query, or by the result of a payment (`payment_id`) that reported another name than was known. `unverified` is one whose answer is not compared yet. An account none of whose payments has succeeded gets the names of at most 20 beneficiaries a day, every other one 500; beyond that the source is `daily_limit`. The day begins at midnight in Nairobi.',
  },
  'beneficiaries.archive': {
    summary: 'Archive a beneficiary',
    text: 'Ends its use permanently. Payments that were made stay as they are; new ones are refused. Doing it again gives the same answer.',
  },
} satisfies OperationTexts
