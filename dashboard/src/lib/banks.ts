/**
 * Kenya's banks by their two-digit bank code, which PesaLink uses too. The Central Bank publishes no list of these codes for PesaLink, so
 * they come from the bank code pages of two payout providers, docs.pesaswap.io (PesaPay) and developers.kulmipay.com. Where both name a
 * bank they agree. 05, 26 and 59 are only in the bank directory of the Central Bank's QR code standard.
 *
 * HFC is 61: both providers say so. That QR code standard says 83 for it, which identifies a bank in a QR code, not in a payment.
 *
 * Checked on 2026-11-22. To check again, compare with the participants' list that IPSL, PesaLink's operator, gives to its customers; do so
 * before real payments are sent. A bank that is not here is "Another bank", and its code is typed in.
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
