/**
 * Kenya's banks by two-digit bank code. The Central Bank publishes no such list for PesaLink. docs.pesaswap.io (PesaPay) and
 * developers.kulmipay.com agree on all banks that both list. 05, 26 and 59 appear only in the Central Bank's QR code standard.
 * That standard lists HFC as 83 in QR codes, but both providers use 61 for payments.
 *
 * Checked on 2026-11-22. Before paying, compare with the list of participants that IPSL, PesaLink's operator, gives to customers.
 */
export const kenyanBanks: readonly Bank[] = [
  { code: '03', name: 'Absa Bank' },
  { code: '26', name: 'Access Bank' },
  { code: '35', name: 'African Banking Corporation' },
  { code: '19', name: 'Bank of Africa' },
  { code: '06', name: 'Bank of Baroda' },
  { code: '05', name: 'Bank of India' },
  { code: '16', name: 'Citibank' },
  { code: '23', name: 'Consolidated Bank' },
  { code: '11', name: 'Co-operative Bank' },
  { code: '25', name: 'Credit Bank' },
  { code: '59', name: 'Development Bank of Kenya' },
  { code: '63', name: 'Diamond Trust Bank' },
  { code: '75', name: 'DIB Bank' },
  { code: '43', name: 'Ecobank' },
  { code: '68', name: 'Equity Bank' },
  { code: '70', name: 'Family Bank' },
  { code: '55', name: 'Guardian Bank' },
  { code: '72', name: 'Gulf African Bank' },
  { code: '53', name: 'Guaranty Trust Bank' },
  { code: '17', name: 'Habib Bank' },
  { code: '61', name: 'HFC' },
  { code: '57', name: 'I&M Bank' },
  { code: '01', name: 'KCB Bank' },
  { code: '78', name: 'Kenya Women Microfinance Bank' },
  { code: '51', name: 'Kingdom Bank' },
  { code: '65', name: 'Mayfair CIB Bank' },
  { code: '18', name: 'Middle East Bank' },
  { code: '14', name: 'M-Oriental Bank' },
  { code: '12', name: 'National Bank of Kenya' },
  { code: '07', name: 'NCBA Bank' },
  { code: '50', name: 'Paramount Bank' },
  { code: '74', name: 'Premier Bank' },
  { code: '10', name: 'Prime Bank' },
  { code: '60', name: 'SBM Bank' },
  { code: '66', name: 'Sidian Bank' },
  { code: '31', name: 'Stanbic Bank' },
  { code: '02', name: 'Standard Chartered' },
  { code: '76', name: 'UBA' },
  { code: '54', name: 'Victoria Commercial Bank' },
]

export type Bank = { code: string; name: string }

/** Other names, each of which belongs to one bank only. */
const alsoCalled: Readonly<Record<string, string>> = {
  ...{
    dtb: '63',
    'diamond trust': '63',
    'dtb kenya': '63',
    coop: '11',
    'co op': '11',
    cooperative: '11',
    stanchart: '02',
    scb: '02',
  },
  ...{
    'kenya commercial': '01',
    barclays: '03',
    'cfc stanbic': '31',
    gt: '53',
    gtbank: '53',
    gtb: '53',
    imbank: '57',
    'i and m': '57',
  },
  ...{
    nbk: '12',
    'housing finance': '61',
    hf: '61',
    kwft: '78',
    boa: '19',
    abc: '35',
    nic: '07',
    cba: '07',
    'commercial bank of africa': '07',
  },
}

const usualWords = new Set(['bank', 'of', 'the', 'limited', 'ltd', 'plc', 'kenya', 'k'])
const wordsOf = (name: string): string[] => name.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
const namingWords = (name: string): string[] => wordsOf(name).filter((word) => !usualWords.has(word))

/** Banks whose names contain every distinctive word of the text: "Equity", "KCB Bank Kenya Ltd". */
export const banksNamed = (text: string, banks: readonly Bank[]): readonly Bank[] => {
  const asked = namingWords(text)
  return asked.length === 0 ? [] : banks.filter(({ name }) => asked.every((word) => wordsOf(name).includes(word)))
}

/** The bank with exactly this name. "Commercial Bank" is only part of one bank's name and could mean another bank. */
export const bankOfName = (text: string): Bank | undefined => {
  const asked = namingWords(text).join(' ')
  const code = alsoCalled[wordsOf(text).join(' ')] ?? alsoCalled[asked]
  return kenyanBanks.find((bank) =>
    code === undefined ? asked !== '' && namingWords(bank.name).join(' ') === asked : bank.code === code,
  )
}

/** "1", "01" and "0001" are the same code. */
export const plainCode = (code: string): string =>
  code
    .trim()
    .toUpperCase()
    .replace(/^0+(?=.)/, '')
