import type { Movement } from './book.ts'
import { shillings } from './format.ts'

const columns = {
  MPESA: [
    'Receipt No.',
    'Completion Time',
    'Details',
    'Transaction Status',
    'Paid In',
    'Withdrawn',
    'Other Party Info',
    'A/C No.',
  ],
  PESALINK: ['Reference', 'Date', 'Narrative', 'Status', 'Credit', 'Debit', 'Transaction ID'],
} as const

const words = { MPESA_STK: 'Pay Bill from', MPESA_B2C: 'Business Payment to', MPESA_B2B: 'Business Pay Bill to', PESALINK: '' }

const quote = (text: string): string => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

const nairobi = (at: Date): string => new Date(at.getTime() + 3 * 3_600_000).toISOString().slice(0, 19).replace('T', ' ')

const masked = (party: string): string => `${party.slice(0, 3)}***${party.slice(-3)}`

const mpesaLine = ({ rail, receipt, at, amountMinor, party, reference }: Movement): string[] => {
  const isIn = rail === 'MPESA_STK'
  const amount = shillings(amountMinor)
  return [
    receipt,
    nairobi(at),
    `${words[rail]} ${masked(party)} ${reference}`.trim(),
    'Completed',
    isIn ? amount : '',
    isIn ? '' : `-${amount}`,
    masked(party),
    reference,
  ]
}

/** Incoming money that was given back: a line of its own, under its own receipt. */
const reversalLine = ({ receipt, at, amountMinor, party, reference }: Movement): string[] => [
  receipt,
  nairobi(at),
  `Pay Bill Reversal to ${masked(party)} ${reference}`.trim(),
  'Completed',
  '',
  `-${shillings(amountMinor)}`,
  masked(party),
  reference,
]

const bankLine = ({ key, receipt, at, amountMinor, reference }: Movement): string[] => [
  key,
  nairobi(at),
  reference,
  'Success',
  '',
  shillings(amountMinor),
  receipt,
]

/** The statement of the organisation's account, with the columns of the provider's portal. */
export const statementCsv = (
  movements: readonly Movement[],
  provider: 'MPESA' | 'PESALINK',
  returns: readonly Movement[] = [],
): string => {
  const lines =
    provider === 'PESALINK'
      ? movements.filter(({ rail }) => rail === 'PESALINK').map(bankLine)
      : [...movements.filter(({ rail }) => rail !== 'PESALINK').map(mpesaLine), ...returns.map(reversalLine)]
  return `${[columns[provider], ...lines].map((line) => line.map(quote).join(',')).join('\n')}\n`
}
