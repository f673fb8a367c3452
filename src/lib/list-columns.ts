/** The columns of a list of payments, each with what HR systems and spreadsheets call it. */
const usualNames = {
  beneficiary_id: [],
  display_name: [
    'name',
    'names',
    'full name',
    'full names',
    'employee',
    'employee name',
    'staff name',
    'payee',
    'payee name',
    'recipient',
    'recipient name',
    'beneficiary name',
    'account name',
  ],
  payment_rail: ['rail', 'payment method'],
  destination: [
    'phone',
    'phone or account',
    'phone number',
    'phone no',
    'mobile',
    'mobile number',
    'mobile no',
    'mobile phone',
    'cell phone',
    'telephone',
    'tel',
    'tel no',
    'msisdn',
    'mpesa',
    'mpesa number',
    'mpesa no',
    'account number',
    'account no',
    'bank account',
    'bank account number',
  ],
  bank_code: [],
  legal_name: [],
  type: [],
  amount: [
    'amount kes',
    'amount ksh',
    'amount kshs',
    'net',
    'net pay',
    'net pay kes',
    'net pay ksh',
    'net salary',
    'net amount',
    'amount payable',
    'amount to pay',
    'take home pay',
  ],
  amount_minor: ['amount in cents'],
  payment_type: [],
  purpose_code: [],
  account_reference: ['reference', 'ref'],
  narrative: ['description', 'remarks', 'note', 'notes'],
} as const satisfies Record<string, readonly string[]>

export type ListColumn = keyof typeof usualNames

export const knownColumns = Object.entries(usualNames)
  .map(([column, [usual]]) => (usual === undefined ? column : `${column} ("${usual}")`))
  .join(', ')

const longestTitle = 200

/** Titles are compared without case, spaces and signs. */
export const titleKey = (title: string): string =>
  title
    .slice(0, longestTitle)
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '')

const byTitle = new Map(
  Object.entries(usualNames).flatMap(([column, usual]) =>
    [column, ...usual].map((title) => [titleKey(title), column as ListColumn]),
  ),
)

const metadata = /^metadata\.\s*(.+)$/i

/** Null for a title that is not known. */
export const columnOfTitle = (title: string): ListColumn | `metadata.${string}` | null => {
  const name = metadata.exec(title)?.[1]?.trim()
  if (name === undefined) return byTitle.get(titleKey(title)) ?? null
  return name === '__proto__' ? null : `metadata.${name}`
}

/** The last column of a list of rows that were not paid: ours, and no part of a payment when the list is sent again. */
export const reasonTitle = 'Why it was not paid'
export const isReason = (title: string): boolean => titleKey(title) === titleKey(reasonTitle)

/** What a person reads in place of a column's name. Each is also a title that a list may have. */
const labels: Partial<Record<ListColumn, string>> = {
  beneficiary_id: 'Beneficiary ID',
  payment_rail: 'Payment method',
  amount_minor: 'Amount in cents',
  display_name: 'Name',
  destination: 'Phone or account',
  account_reference: 'Reference',
}
export const labelOfColumn = (column: string): string =>
  labels[column as ListColumn] ?? column.charAt(0).toUpperCase() + column.slice(1).replaceAll('_', ' ')

export const listColumns = Object.keys(usualNames) as ListColumn[]
