/** The columns of a list of payments, each with what HR systems and spreadsheets call it. Titles are compared without case, spaces and signs. */
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
  payment_rail: ['rail'],
  destination: [
    'phone',
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
  amount_minor: [],
  payment_type: [],
  purpose_code: [],
  account_reference: ['reference', 'ref'],
  narrative: ['description', 'remarks', 'note', 'notes'],
} as const satisfies Record<string, readonly string[]>

export type ListColumn = keyof typeof usualNames

/** The columns as documentation and refusals name them. */
export const knownColumns = Object.entries(usualNames)
  .map(([column, [usual]]) => (usual === undefined ? column : `${column} ("${usual}")`))
  .join(', ')

const longestTitle = 200

const plain = (title: string): string =>
  title
    .slice(0, longestTitle)
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '')

const byTitle = new Map(
  Object.entries(usualNames).flatMap(([column, usual]) =>
    [column, ...usual].map((title) => [plain(title), column as ListColumn]),
  ),
)

const metadata = /^metadata\.\s*(.+)$/i

/** What a title names: a column, or `metadata.<name>`; null for one that is not known. */
export const columnOfTitle = (title: string): ListColumn | `metadata.${string}` | null => {
  const name = metadata.exec(title)?.[1]?.trim()
  if (name === undefined) return byTitle.get(plain(title)) ?? null
  return name === '__proto__' ? null : `metadata.${name}`
}
