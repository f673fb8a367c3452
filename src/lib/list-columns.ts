/** Words that HR systems and banks add before a field: "Employee Name", "Beneficiary Account No". */
const parties = [
  'employee',
  'staff',
  'worker',
  'member',
  'payee',
  'recipient',
  'receiver',
  'beneficiary',
  'bene',
  'creditor',
  'supplier',
  'vendor',
]
const ofEach = (fields: readonly string[]): string[] => [
  ...fields,
  ...parties.flatMap((party) => fields.map((field) => `${party} ${field}`)),
]
const phones = ['phone', 'mobile', 'mobile phone', 'cell phone', 'telephone', 'tel', 'msisdn', 'mpesa', 'm-pesa', 'mpesa phone']
const accounts = ['bank account', 'account', 'bank acc', 'acc', 'a/c']
const numbered = (names: readonly string[]): string[] => names.flatMap((name) => [`${name} number`, `${name} no`])
const inShillings = (names: readonly string[]): string[] =>
  names.flatMap((name) => ['', ' kes', ' ksh', ' kshs'].map((currency) => `${name}${currency}`))

/** Columns of a payment batch, with their usual titles in HR systems, banks and spreadsheets, in English and Swahili. */
const usualNames = {
  beneficiary_id: [],
  display_name: [
    ...ofEach(['name', 'names', 'full name', 'full names', 'account name', 'account holder', 'account holder name']),
    ...[...parties, 'jina', 'majina', 'jina kamili'],
  ],
  payment_rail: ['rail', 'payment method'],
  destination: [
    ...ofEach([...phones, ...numbered(phones), ...numbered(accounts)]),
    ...['phone or account', 'bank account', 'beneficiary account', 'bene account', 'credit account'],
    ...numbered(['credit account']),
    ...['simu', 'nambari ya simu', 'namba ya simu', 'nambari ya akaunti', 'namba ya akaunti'],
  ],
  bank_code: ['beneficiary bank code'],
  bank_name: ['bank', 'beneficiary bank', 'beneficiary bank name', 'benki', 'jina la benki'],
  legal_name: [],
  type: [],
  amount: inShillings([
    ...['amount', 'amount payable', 'amount to pay', 'payment amount', 'transaction amount', 'transfer amount'],
    ...['net', 'net pay', 'net salary', 'net wage', 'net wages', 'net amount', 'net payable', 'take home pay'],
    ...['kiasi', 'mshahara halisi'],
  ]),
  amount_minor: ['amount in cents'],
  currency: ['currency code', 'ccy', 'payment currency', 'transaction currency', 'sarafu'],
  payment_type: [],
  purpose_code: [],
  account_reference: [
    ...['reference', 'reference no', 'reference number', 'ref', 'ref no', 'payment reference', 'payment ref', 'bene ref'],
    ...['transaction reference', 'customer reference', 'beneficiary reference', 'kumbukumbu'],
  ],
  narrative: [
    ...['narration', 'purpose', 'payment narration', 'payment narrative', 'payment purpose', 'pay purpose', 'payment details'],
    ...['purpose of payment', 'transaction narration', 'beneficiary narrative', 'description', 'particulars', 'remarks'],
    ...['remark', 'note', 'notes', 'payment reason', 'reason for payment', 'payment description', 'details', 'maelezo'],
  ],
} as const satisfies Record<string, readonly string[]>

export type ListColumn = keyof typeof usualNames

export const knownColumns = Object.entries(usualNames)
  .map(([column, usual]) => [column, (usual as readonly string[]).find((name) => name !== column)])
  .map(([column, usual]) => (usual === undefined ? column : `${column} ("${usual}")`))
  .join(', ')

/** Columns from bank and payroll exports that contain neither payee nor amount. They are ignored with a warning. */
const ignoredTitles = [
  ...['branch', 'branch code', 'branch name', 'branch no', 'bank branch', 'bank branch code', 'bank branch name'],
  ...['record type', 'row type', 'line type', 'transaction type', 'type of payment', 'payment mode', 'mode of payment'],
  ...['staff no', 'staff number', 'employee no', 'employee number', 'payroll no', 'payroll number', 'personal no', 'pf no'],
  ...['id no', 'id number', 'national id', 'kra pin', 'department', 'designation', 'job title', 'namba', 'nambari', 'na'],
  ...['swift code', 'swift', 'bic', 'serial no', 's/no', 's/n', 'no', 'item no', 'row no', 'record no', 'email', 'email address'],
]

const longestTitle = 200

/** Titles are compared without case, spaces and punctuation. */
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

const ignored = new Set(ignoredTitles.map(titleKey))
export const isIgnored = (title: string): boolean => ignored.has(titleKey(title))

const transferKinds =
  /^(?:eft|rtgs|ach|ift|pesa ?link|swift|tt|m-?pesa|b2c|(?:internal|bank|mobile)(?: transfer| money)?|transfer)$/i
/** Whether "Payment Type" is a bank's transfer method instead of one of our payment types, to which limits apply. */
export const isTransferMethodColumn = (column: string, cells: readonly string[]): boolean =>
  column === 'payment_type' && cells.every((cell) => transferKinds.test(cell)) && !cells.every((cell) => /^[a-z]/.test(cell))

const metadata = /^metadata\.\s*(.+)$/i

export const columnOfTitle = (title: string): ListColumn | `metadata.${string}` | null => {
  const name = metadata.exec(title)?.[1]?.trim()
  if (name === undefined) return byTitle.get(titleKey(title)) ?? null
  return name === '__proto__' ? null : `metadata.${name}`
}

/** The last column in an export of unpaid rows. It is ignored if the file is uploaded again. */
export const reasonTitle = 'Why it was not paid'
export const isReason = (title: string): boolean => titleKey(title) === titleKey(reasonTitle)

/** Labels shown to people instead of column names. Each label is also an accepted title. */
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
