import english from '../../../../texts/developers.en.json' with { type: 'json' }
import { readTexts } from '../../lib/language.ts'

export const { t: tDev, rich: richDev } = await readTexts(
  english,
  () => import('../../../../texts/developers.sw.json', { with: { type: 'json' } }),
)
