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

const mpesaLine = ({ rail, receipt, at, amountMinor, party, reference }: Movement): string[] => {
  const isIn = rail === 'MPESA_STK'
  const amount = shillings(amountMinor)
  return [
    receipt,
    nairobi(at),
    `${words[rail]} ${party.slice(0, 3)}***${party.slice(-3)} ${reference}`.trim(),
    'Completed',
    isIn ? amount : '',
    isIn ? '' : `-${amount}`,
    `${party.slice(0, 3)}***${party.slice(-3)}`,
    reference,
  ]
}

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
export const statementCsv = (movements: readonly Movement[], provider: 'MPESA' | 'PESALINK'): string => {
  const listed = movements.filter(({ rail }) => (rail === 'PESALINK') === (provider === 'PESALINK'))
  const lines = listed.map((moved) => (provider === 'PESALINK' ? bankLine(moved) : mpesaLine(moved)))
  return `${[columns[provider], ...lines].map((line) => line.map(quote).join(',')).join('\n')}\n`
}
