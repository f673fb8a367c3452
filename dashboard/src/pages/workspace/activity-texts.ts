import english from '../../../../texts/activity.en.json' with { type: 'json' }
import { readTexts } from '../../lib/language.ts'

export type ActivityText = keyof typeof english

export const { t: tActivity, isKey: isActivityText } = await readTexts(
  english,
  () => import('../../../../texts/activity.sw.json', { with: { type: 'json' } }),
)
