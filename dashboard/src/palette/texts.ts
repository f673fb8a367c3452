import english from '../../../texts/palette.en.json' with { type: 'json' }
import { readTexts } from '../lib/language.ts'

export const { t: tPalette } = await readTexts(
  english,
  () => import('../../../texts/palette.sw.json', { with: { type: 'json' } }),
)
