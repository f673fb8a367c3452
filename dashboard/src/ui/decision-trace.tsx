import { t } from '../lib/language.ts'
import { type Decision, sourceWords, type TraceEntry, traceWords } from '../lib/rule-words.ts'
import { now } from '../lib/time.ts'
import { Icon, type IconName } from './icon.tsx'
import { Meter } from './meter.tsx'
import { Badge } from './page.tsx'

const icons: Readonly<Record<TraceEntry['outcome'], IconName>> = { allow: 'check', require_approval: 'clock', deny: 'cross' }
const tones: Readonly<Record<TraceEntry['outcome'], 'good' | 'warn' | 'bad'>> = {
  allow: 'good',
  require_approval: 'warn',
  deny: 'bad',
}

type Group = { title: string; entries: TraceEntry[] }

/** Groups adjacent rules of one policy or grant under its name, in the order of the checks. */
const grouped = (trace: readonly TraceEntry[]): Group[] => {
  const groups: Group[] = []
  for (const entry of trace) {
    const title = sourceWords(entry)
    const last = groups.at(-1)
    if (last?.title === title) last.entries.push(entry)
    else groups.push({ title, entries: [entry] })
  }
  return groups
}

const Usage = ({ entry, currency }: { entry: TraceEntry; currency: string }) => {
  if (entry.limit_minor === undefined || entry.used_minor === undefined) return null
  const after = (BigInt(entry.used_minor) + BigInt(entry.requested_minor ?? '0')).toString()
  return <Meter used={after} limit={entry.limit_minor} currency={currency} label={t('trace.used')} />
}

const Entry = ({ entry, currency, at }: { entry: TraceEntry; currency: string; at: number }) => (
  <li className={`trace-entry tone-${tones[entry.outcome]}`}>
    <Icon name={icons[entry.outcome]} />
    <div>
      <p className="muted">
        <span className="visually-hidden">{t(`trace.${entry.outcome}`)}. </span>
        {traceWords(entry, currency, at)}{' '}
        {entry.decisive && <Badge tone={entry.outcome === 'deny' ? 'bad' : 'warn'}>{t('trace.deciding')}</Badge>}
      </p>
      <Usage entry={entry} currency={currency} />
    </div>
  </li>
)

/** The checked rules in order, in plain words. The service sends the most relevant fifty. `at`: time of the check, or now. */
export const DecisionTrace = ({ decision, currency, at }: { decision: Decision; currency: string; at?: string }) => (
  <ol className="rows trace" aria-label={t('policy_checks')}>
    {grouped(decision.trace ?? []).map(({ title, entries }) => (
      <li key={`${title} ${entries[0]?.rule}`}>
        <p className="strong">{title}</p>
        <ul>
          {entries.map((entry) => (
            <Entry key={entry.rule} entry={entry} currency={currency} at={at ? Date.parse(at) : now()} />
          ))}
        </ul>
      </li>
    ))}
  </ol>
)
