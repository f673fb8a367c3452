import english from '../../../../texts/pay.en.json' with { type: 'json' }
import { readTexts } from '../../lib/language.ts'

/** Texts of a payment's form, review and receipt. */
export const { t: tPay, rich: richPay } = await readTexts(
  english,
  () => import('../../../../texts/pay.sw.json', { with: { type: 'json' } }),
)
