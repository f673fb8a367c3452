/**
 * Kenya's banks by the two digits that the Central Bank gives each of them, which PesaLink knows them by too. Compared on 2026-11-22
 * with the list of PesaLink's participants at docs.pesaswap.io/api-reference/payouts/pesapay--bank-codes and, for 05, 06, 17, 26 and 59,
 * which it leaves out, with the directory of banks in the Central Bank's QR code standard. Whoever is in neither is "Another bank".
 */
const byCode: readonly (readonly [code: string, name: string])[] = [
  ['03', 'Absa Bank'],
  ['26', 'Access Bank'],
  ['35', 'African Banking Corporation'],
  ['19', 'Bank of Africa'],
  ['06', 'Bank of Baroda'],
  ['05', 'Bank of India'],
  ['16', 'Citibank'],
  ['23', 'Consolidated Bank'],
  ['11', 'Co-operative Bank'],
  ['25', 'Credit Bank'],
  ['59', 'Development Bank of Kenya'],
  ['63', 'Diamond Trust Bank'],
  ['75', 'DIB Bank'],
  ['43', 'Ecobank'],
  ['68', 'Equity Bank'],
  ['70', 'Family Bank'],
  ['55', 'Guardian Bank'],
  ['72', 'Gulf African Bank'],
  ['53', 'Guaranty Trust Bank'],
  ['17', 'Habib Bank'],
  ['61', 'HFC'],
  ['57', 'I&M Bank'],
  ['01', 'KCB Bank'],
  ['78', 'Kenya Women Microfinance Bank'],
  ['51', 'Kingdom Bank'],
  ['65', 'Mayfair CIB Bank'],
  ['18', 'Middle East Bank'],
  ['14', 'M-Oriental Bank'],
  ['12', 'National Bank of Kenya'],
  ['07', 'NCBA Bank'],
  ['50', 'Paramount Bank'],
  ['74', 'Premier Bank'],
  ['10', 'Prime Bank'],
  ['60', 'SBM Bank'],
  ['66', 'Sidian Bank'],
  ['31', 'Stanbic Bank'],
  ['02', 'Standard Chartered'],
  ['76', 'UBA'],
  ['54', 'Victoria Commercial Bank'],
]

export const otherBank = 'other'

export const bankOptions: readonly { value: string; label: string }[] = [
  ...byCode.map(([value, label]) => ({ value, label })),
  { value: otherBank, label: 'Another bank' },
]

/** The bank's name where we know it. A code may be written with zeros before it. */
export const bankName = (code: string): string =>
  byCode.find(([known]) => Number(known) === Number(code))?.[1] ?? `Bank code ${code}`
