import english from '../../../texts/limits.en.json' with { type: 'json' }
import { createTranslator } from './language.ts'

export const { t: tLimit } = await createTranslator(
  english,
  () => import('../../../texts/limits.sw.json', { with: { type: 'json' } }),
)
