import english from '../../../texts/send-later.en.json' with { type: 'json' }
import { createTranslator, t } from '../lib/language.ts'
import { fromLocalInput, localInput, now, pageZone, zoneWords } from '../lib/time.ts'
import { ChoiceField, TextField } from './field.tsx'

const { t: tLater } = await createTranslator(
  english,
  () => import('../../../texts/send-later.sw.json', { with: { type: 'json' } }),
)

/** Time chosen for sending. `at`: text of the field, in the workspace's time zone. */
export type SendTime = { when: 'now' | 'later'; at: string }

export const sendNow: SendTime = { when: 'now', at: '' }

const maxDaysAhead = 90
const dayMs = 86_400_000

/** The chosen instant, null for now; or the problem with it, null while the text is incomplete. */
export const readSendTime = ({ when, at }: SendTime): { at: string | null } | { problem: string | null } => {
  if (when !== 'later') return { at: null }
  const instant = fromLocalInput(at)
  if (!instant) return { problem: null }
  const ahead = instant.getTime() - now()
  if (ahead <= 0) return { problem: tLater('when.past') }
  if (ahead > maxDaysAhead * dayMs) return { problem: tLater('when.far', { days: maxDaysAhead }) }
  return { at: instant.toISOString() }
}

type Props = { value: SendTime; onChange: (value: SendTime) => void; error?: string | undefined }

/** Asks for the choice first, because a half-typed time must never mean "now". */
export const SendLater = ({ value, onChange, error }: Props) => {
  const zone = pageZone()
  const read = readSendTime(value)
  const problem = 'problem' in read ? (read.problem ?? undefined) : undefined
  return (
    <>
      <ChoiceField
        label={t('when')}
        inRow
        value={value.when}
        onChange={(when) => onChange({ ...value, when })}
        choices={[
          { value: 'now', label: tLater('when.now') },
          { value: 'later', label: tLater('when.later') },
        ]}
      />
      {value.when === 'later' && (
        <TextField
          label={tLater('when.at')}
          type="datetime-local"
          value={value.at}
          onChange={(at) => onChange({ ...value, at })}
          min={localInput(new Date(now()))}
          max={localInput(new Date(now() + maxDaysAhead * dayMs))}
          error={problem ?? error}
          hint={tLater('when.hint', { what: zone ? zoneWords(zone) : tLater('when.own'), days: maxDaysAhead })}
        />
      )}
    </>
  )
}
