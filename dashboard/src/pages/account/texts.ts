import english from '../../../../texts/account.en.json' with { type: 'json' }
import { readTexts } from '../../lib/language.ts'

/** What the account's page says, and the offer of notifications. */
export const { t: tAccount, rich: richAccount } = await readTexts(
  english,
  () => import('../../../../texts/account.sw.json', { with: { type: 'json' } }),
)
