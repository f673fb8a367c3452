import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Fragment, useEffect, useId, useLayoutEffect, useState } from 'react'
import { useLocation } from 'wouter'
import { useBeneficiaries } from '../api/names.ts'
import { batchesQuery, grantsQuery, paymentsQuery, policiesQuery, rowsOf, workspacesQuery } from '../api/queries.ts'
import { cx } from '../lib/class-names.ts'
import { useDebounced } from '../lib/drafts.ts'
import { t } from '../lib/language.ts'
import { railFacts } from '../lib/rails.ts'
import { shortTime } from '../lib/time.ts'
import { batchTitle, moneyText, shortMoney, statusText } from '../lib/words.ts'
import { useNav } from '../shell/nav-items.tsx'
import { useSession } from '../shell/session.tsx'
import { useSwitchWorkspace } from '../shell/workspace-switch.ts'
import { Icon, type IconName } from '../ui/icon.tsx'
import { PaletteFrame, takeEarlyText } from './palette-frame.tsx'
import { tPalette } from './texts.ts'

type Entry = {
  key: string
  group: string
  title: string
  note?: string
  icon: IconName
  /** More words that match the entry. */
  also?: string
  run: () => void
}

const rank = (entry: Entry, words: readonly string[]): number | null => {
  const title = entry.title.toLowerCase()
  const text = `${title} ${entry.note ?? ''} ${entry.also ?? ''}`.toLowerCase()
  if (!words.every((word) => text.includes(word))) return null
  const [first = ''] = words
  if (title.startsWith(first)) return 0
  return title.includes(first) ? 1 : 2
}

/** Entries that contain every word. Titles that start with the first word come first. Groups keep their order. */
const findEntries = (entries: readonly Entry[], text: string, perGroup: number): Entry[] => {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const ranked = entries.flatMap((entry) => {
    const position = rank(entry, words)
    return position === null ? [] : [{ entry, position }]
  })
  const groups = [...new Set(ranked.map(({ entry }) => entry.group))]
  return groups.flatMap((group) =>
    ranked
      .filter(({ entry }) => entry.group === group)
      .sort((a, b) => a.position - b.position)
      .slice(0, perGroup)
      .map(({ entry }) => entry),
  )
}

const perGroup = 5

type Go = (href: string) => () => void

const useActions = (go: Go): Entry[] => {
  const { can } = useSession()
  const action = (allowed: boolean, title: string, href: string, icon: Entry['icon'], also = ''): Entry[] =>
    allowed ? [{ key: `do ${href}`, group: tPalette('actions'), title, icon, also, run: go(href) }] : []
  return [
    ...action(can('payment.create'), t('new_payment'), '/payments/new', 'plus', tPalette('words.pay')),
    ...action(can('topup.create'), t('top_up'), '/top-up', 'topup', tPalette('words.money')),
    ...action(can('beneficiary.manage'), tPalette('add_payee'), '/beneficiaries/new', 'people', tPalette('words.payee')),
    ...action(can('policy.create'), tPalette('new_policy'), '/policies/new', 'policy', tPalette('words.limit')),
    ...action(can('key.manage'), tPalette('new_key'), '/developers/keys/new', 'key', 'agent'),
    ...action(can('workspace.manage'), tPalette('freeze'), '/workspace', 'freeze', tPalette('words.stop')),
    ...action(can('workspace.manage'), tPalette('invite'), '/workspace', 'people', 'team'),
  ]
}

/** All entries of the palette. The service searches payments, batches and beneficiaries. */
const useEntries = (text: string): { entries: Entry[]; payments: Entry[] } => {
  const { currency, workspace } = useSession()
  const [, navigate] = useLocation()
  const switchTo = useSwitchWorkspace()
  const go: Go = (href) => () => navigate(href)
  const beneficiaries = useBeneficiaries()
  const grants = useInfiniteQuery(grantsQuery)
  const policies = useInfiniteQuery(policiesQuery('active'))
  const workspaces = useQuery(workspacesQuery)
  const query = useDebounced(text.trim(), 150)
  const { search } = beneficiaries
  useEffect(() => search(query), [query, search])
  const matching = useInfiniteQuery({ ...paymentsQuery({ q: query }), enabled: query.length > 1 })
  const named = useInfiniteQuery({ ...batchesQuery(query), enabled: query.length > 1 })
  const actions = useActions(go)
  const nav = useNav()
  const entries: Entry[] = [
    ...actions,
    ...nav.all.map(({ href, label, icon }) => ({
      key: `go ${href}`,
      group: tPalette('go_to'),
      title: label,
      icon,
      run: go(href),
    })),
    ...beneficiaries.offered
      .filter(({ status }) => status !== 'archived')
      .map((beneficiary) => ({
        key: beneficiary.id,
        group: t('nav.beneficiaries'),
        title: beneficiary.display_name,
        note: `${railFacts[beneficiary.payment_rail].label}, ${beneficiary.destination_mask}`,
        also: `${beneficiary.legal_name ?? ''} ${beneficiary.type}`,
        icon: railFacts[beneficiary.payment_rail].icon,
        run: go(`/beneficiaries/${beneficiary.id}`),
      })),
    ...rowsOf(grants)
      .filter(({ revoked_at }) => revoked_at === null)
      .map((grant) => {
        const agent = grant.kind === 'oauth'
        return {
          key: grant.id,
          group: tPalette('keys'),
          title: grant.label,
          note: `${agent ? tPalette('agent') : tPalette('key')}${grant.frozen ? tPalette('frozen') : ''}`,
          icon: agent ? ('robot' as const) : ('key' as const),
          run: go(`/agents/${grant.id}`),
        }
      }),
    ...rowsOf(policies).map(({ id, name }) => ({
      key: id,
      group: t('policies'),
      title: name,
      icon: 'policy' as const,
      run: go(`/policies/${id}`),
    })),
    ...(workspaces.data?.data ?? [])
      .filter((view) => view.workspace.id !== workspace.id)
      .map((view) => ({
        key: view.workspace.id,
        group: tPalette('workspaces'),
        title: tPalette('switch_to', { name: view.workspace.name }),
        icon: 'workspace' as const,
        run: () => switchTo(view.workspace.id),
      })),
  ]
  const found = query.length > 1 ? rowsOf(matching) : []
  const batches = query.length > 1 ? rowsOf(named).slice(0, perGroup) : []
  // Several matches in one batch become one entry that opens the batch.
  const several = new Set(
    [...Map.groupBy(found, ({ batch_id }) => batch_id)].flatMap(([id, all]) => (id !== null && all.length > 1 ? [id] : [])),
  )
  const further = [...several].filter((id) => batches.every((batch) => batch.id !== id))
  const batchEntry = (id: string, title: string, note: string): Entry => ({
    key: id,
    group: tPalette('batches'),
    title,
    note,
    icon: 'list',
    run: go(`/payments/batches/${id}`),
  })
  const payments: Entry[] = [
    ...batches.map((batch) =>
      batchEntry(
        batch.id,
        batchTitle(batch),
        [
          t('payments', { count: batch.items_count }),
          shortMoney(batch.total_minor, currency),
          statusText(batch.status),
          shortTime(batch.created_at),
        ].join(' · '),
      ),
    ),
    ...further.map((id) => batchEntry(id, t('payment_batch'), tPalette('several_match', { query }))),
    ...found
      .filter(({ batch_id: id }) => id === null || !several.has(id))
      .slice(0, perGroup)
      .map((payment) => ({
        key: payment.id,
        group: t('payments_label'),
        title: t('to_payee', { amount: moneyText(payment.amount_minor, currency), payee: payment.beneficiary.display_name }),
        note: [payment.narrative, statusText(payment.status), shortTime(payment.created_at)].filter(Boolean).join(' · '),
        icon: 'payments' as const,
        run: go(`/payments/${payment.id}`),
      })),
  ]
  return { entries, payments }
}

/** Search and commands: a combobox over a list, so that the focus stays in the field. */
export const Palette = ({ onClose }: { onClose: () => void }) => {
  const id = useId()
  const [text, setText] = useState('')
  useLayoutEffect(() => setText(takeEarlyText()), [])
  const [at, setAt] = useState(0)
  const { entries, payments } = useEntries(text)
  const results =
    text.trim() === ''
      ? entries.filter(({ group }) => group === tPalette('actions') || group === tPalette('go_to'))
      : [...findEntries(entries, text, perGroup), ...payments]
  const index = Math.min(at, Math.max(0, results.length - 1))
  const chosen = results[index]

  useEffect(() => {
    if (chosen) document.getElementById(`${id}-${chosen.key}`)?.scrollIntoView({ block: 'nearest' })
  }, [chosen, id])

  const run = (entry: Entry | undefined) => {
    if (!entry) return
    onClose()
    entry.run()
  }
  const onKey = (event: React.KeyboardEvent) => {
    if (event.key === 'ArrowDown') setAt((index + 1) % Math.max(1, results.length))
    else if (event.key === 'ArrowUp') setAt((index - 1 + results.length) % Math.max(1, results.length))
    else if (event.key === 'Enter') run(chosen)
    else return
    event.preventDefault()
  }
  return (
    <PaletteFrame
      value={text}
      onChange={(value) => {
        setText(value)
        setAt(0)
      }}
      onClose={onClose}
      onKeyDown={onKey}
      aria-controls={`${id}-list`}
      aria-activedescendant={chosen && `${id}-${chosen.key}`}
    >
      <div className="palette-list" role="listbox" id={`${id}-list`} aria-label={tPalette('results')}>
        {results.map((entry, position) => (
          <Fragment key={entry.key}>
            {entry.group !== results[position - 1]?.group && (
              <p className="palette-group" role="presentation">
                {entry.group}
              </p>
            )}
            {/* biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the focus and handles the keys */}
            <div
              id={`${id}-${entry.key}`}
              role="option"
              tabIndex={-1}
              aria-selected={position === index}
              className={cx('palette-entry', position === index && 'palette-chosen')}
              onClick={() => run(entry)}
              onMouseMove={() => setAt(position)}
            >
              <Icon name={entry.icon} />
              <bdi className="palette-title">{entry.title}</bdi>
              {entry.note && <bdi className="palette-note faint small">{entry.note}</bdi>}
            </div>
          </Fragment>
        ))}
      </div>
      {results.length === 0 && (
        <p className="palette-none muted" role="status">
          {tPalette('nothing', { text: text.trim() })}
        </p>
      )}
    </PaletteFrame>
  )
}
