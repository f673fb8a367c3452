// The people and businesses of the demo workspace, a vegetable exporter in Nairobi. All names and numbers are fictional.

/** `holder`: the name that the rail reports for the number. */
export type Payee = { name: string; to: string; holder: string }

/** M-PESA payees. The last phone is not registered, so the sandbox fails payments to it with code 2040. */
export const workers: readonly Payee[] = [
  { name: 'Mercy Akinyi', to: '254722310001', holder: 'MERCY AKINYI OUMA' },
  { name: 'John Mutua', to: '254722310002', holder: 'JOHN MUTUA MUSYOKA' },
  { name: 'Faith Chebet', to: '254722310003', holder: 'FAITH CHEBET KOECH' },
  { name: 'Peter Wafula', to: '254722310004', holder: 'PETER WAFULA' },
  { name: 'Grace Wambui', to: '254722310005', holder: 'GRACE WAMBUI MAINA' },
  { name: 'Hassan Abdi', to: '254722310006', holder: 'HASSAN ABDI NUR' },
  { name: 'Lilian Moraa', to: '254722310007', holder: 'LILIAN MORAA' },
  { name: 'David Kiprono', to: '254722310008', holder: 'DAVID KIPRONO BETT' },
  { name: 'Esther Nduta', to: '254722310009', holder: 'ESTHER NDUTA KARIUKI' },
  { name: 'Moses Ochieng', to: '254700002040', holder: 'MOSES OCHIENG' },
]

export const farmers: readonly Payee[] = [
  { name: 'Joseph Gitau', to: '254722320001', holder: 'JOSEPH GITAU NJUGUNA' },
  { name: 'Beatrice Wanjiku', to: '254722320002', holder: 'BEATRICE WANJIKU' },
  { name: 'Samuel Kibet', to: '254722320003', holder: 'SAMUEL KIBET RONO' },
  { name: 'Rose Nyambura', to: '254722320004', holder: 'ROSE NYAMBURA' },
]

const bank = (destination: string) => ({ payment_rail: 'PESALINK', destination, bank_code: '01' }) as const
const paybill = (destination: string, account_reference: string) =>
  ({ payment_rail: 'MPESA_B2B', destination, account_reference }) as const

export const businesses = {
  landlord: { type: 'supplier', display_name: 'Ruaraka Warehouses Ltd', ...bank('0140098127001') },
  boxes: { type: 'supplier', display_name: 'Limuru Packaging Ltd', ...bank('0140098127002') },
  cold: { type: 'supplier', display_name: 'Athi Cold Storage Ltd', ...bank('0140098127003') },
  power: { type: 'utility', display_name: 'Kenya Power', ...paybill('888880', '14253687') },
  freight: { type: 'supplier', display_name: 'Mombasa Road Freight', ...paybill('522900', 'KF-0081') },
} as const
