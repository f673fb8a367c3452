/** The columns of a list of payments, each with what HR systems and spreadsheets call it. */
const usualNames = {
  beneficiary_id: [],
  display_name: [
    ...['name', 'names', 'full name', 'full names', 'employee', 'employee name', 'employee names', 'staff name', 'staff names'],
    ...['payee', 'payee name', 'recipient', 'recipient name', 'beneficiary', 'beneficiary name', 'bene name', 'creditor name'],
    ...['account name', 'account holder', 'account holder name', 'supplier', 'supplier name', 'vendor name'],
  ],
  payment_rail: ['rail', 'payment method'],
  destination: [
    ...['phone', 'phone or account', 'phone number', 'phone no', 'mobile', 'mobile number', 'mobile no', 'mobile phone'],
    ...['cell phone', 'telephone', 'tel', 'tel no', 'msisdn', 'mpesa', 'mpesa number', 'mpesa no', 'beneficiary phone'],
    ...[
      'account number',
      'account no',
      'acc no',
      'a/c no',
      'a/c number',
      'bank account',
      'bank account number',
      'bank account no',
    ],
    ...['beneficiary account', 'beneficiary account number', 'beneficiary account no', 'bene account', 'credit account'],
  ],
  bank_code: ['beneficiary bank code'],
  bank_name: ['bank', 'beneficiary bank', 'beneficiary bank name'],
  legal_name: [],
  type: [],
  amount: [
    ...['amount kes', 'amount ksh', 'amount kshs', 'amount payable', 'amount to pay', 'payment amount', 'transaction amount'],
    ...['transfer amount', 'net', 'net pay', 'net pay kes', 'net pay ksh', 'net salary', 'net salary kes', 'net amount'],
    ...['net amount kes', 'take home pay'],
  ],
  amount_minor: ['amount in cents'],
  currency: ['currency code', 'ccy', 'payment currency', 'transaction currency'],
  payment_type: [],
  purpose_code: [],
  account_reference: [
    ...['reference', 'reference no', 'reference number', 'ref', 'ref no', 'payment reference', 'payment ref', 'bene ref'],
    ...['transaction reference', 'customer reference', 'beneficiary reference'],
  ],
  narrative: [
    ...['narration', 'purpose', 'payment narration', 'payment narrative', 'payment purpose', 'pay purpose', 'payment details'],
    ...[
      'purpose of payment',
      'transaction narration',
      'beneficiary narrative',
      'description',
      'particulars',
      'remarks',
      'remark',
    ],
    ...['note', 'notes'],
  ],
} as const satisfies Record<string, readonly string[]>

export type ListColumn = keyof typeof usualNames

export const knownColumns = Object.entries(usualNames)
  .map(([column, [usual]]) => (usual === undefined ? column : `${column} ("${usual}")`))
  .join(', ')

/** They say nothing about whom or how much: an export of a bank or of a payroll system has them, and they are left out with a warning. */
const sayNothing = [
  ...['branch', 'branch code', 'branch name', 'branch no', 'bank branch', 'bank branch code', 'bank branch name'],
  ...['record type', 'row type', 'line type', 'transaction type', 'type of payment', 'payment mode', 'mode of payment'],
  ...['swift code', 'swift', 'bic', 'serial no', 's/no', 's/n', 'no', 'item no', 'row no', 'record no', 'email', 'email address'],
]

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

const ignored = new Set(sayNothing.map(titleKey))
export const isIgnored = (title: string): boolean => ignored.has(titleKey(title))

const transferKinds =
  /^(?:eft|rtgs|ach|ift|pesa ?link|swift|tt|m-?pesa|b2c|(?:internal|bank|mobile)(?: transfer| money)?|transfer)$/i
/** A bank's "Payment Type" says how its own transfer goes, and is none of our payment types, on which limits depend. */
export const saysHowAlone = (column: string, cells: readonly string[]): boolean =>
  column === 'payment_type' && cells.every((cell) => transferKinds.test(cell)) && !cells.every((cell) => /^[a-z]/.test(cell))

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
  bank_name: 'Bank',
}
export const labelOfColumn = (column: string): string =>
  labels[column as ListColumn] ?? column.charAt(0).toUpperCase() + column.slice(1).replaceAll('_', ' ')

export const listColumns = Object.keys(usualNames) as ListColumn[]
