import { type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { fetchOrUnreachable, toApiError } from '../api/error.ts'
import { chosenWorkspace } from '../api/queries.ts'
import { cx } from '../lib/class-names.ts'
import type { useFilters } from '../lib/drafts.ts'
import { t } from '../lib/language.ts'
import { saveFile } from '../lib/text-file.ts'
import { pageZone, zoneWords } from '../lib/time.ts'
import { Button } from './button.tsx'
import { TextField } from './field.tsx'
import { useChange } from './form.tsx'
import { Icon } from './icon.tsx'
import { useDismiss } from './menu.tsx'

type Filters = Pick<ReturnType<typeof useFilters>, 'any' | 'clear' | 'field'>

/** First and last day of a list, kept in the URL. The days are in the time zone that limits use. */
export const DayFilters = ({ filters: { field } }: { filters: Pick<Filters, 'field'> }) => {
  const zone = pageZone()
  return (
    <>
      <TextField label={t('from')} type="date" {...field('from')} />
      <TextField label={t('until')} type="date" {...field('to')} />
      {zone && <p className="filters-note">{t('days_in', { time_zone: zoneWords(zone) })}</p>}
    </>
  )
}

export const ClearFilters = ({ filters }: { filters: Pick<Filters, 'any' | 'clear'> }) =>
  filters.any && (
    <Button variant="ghost" onClick={filters.clear}>
      {t('clear_filters')}
    </Button>
  )

/** A row of filters: the page's own, the date range, and a Clear button. */
export const FilterBar = ({ filters, children }: { filters: Filters; children: ReactNode }) => (
  <search className="filters">
    {children}
    <DayFilters filters={filters} />
    <ClearFilters filters={filters} />
  </search>
)

type Props = {
  label: string
  /** Current value in words; null if not set. */
  value: string | null
  children: ReactNode
}

/** A filter as a chip with its value, which unfolds its fields. Escape or a click elsewhere closes them. */
export const FilterChip = ({ label, value, children }: Props) => {
  const [open, setOpen] = useState(false)
  const id = useId()
  const root = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const fields = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (open) fields.current?.querySelector<HTMLElement>('input, select, button')?.focus()
  }, [open])
  useDismiss(open, setOpen, { root, trigger: button })
  return (
    <div className="filter-chip" ref={root}>
      <button
        ref={button}
        type="button"
        className={cx('chip chip-button', value !== null && 'chip-set')}
        aria-expanded={open}
        aria-controls={id}
        onClick={() => setOpen(!open)}
      >
        {value === null ? label : `${label}: ${value}`}
        <Icon name="chevron" size={14} />
      </button>
      <div ref={fields} id={id} className="filter-fields" hidden={!open}>
        {open && children}
      </div>
    </div>
  )
}

type CsvProps = { path: string; query: Readonly<Record<string, unknown>>; name: string }

/** Downloads a file about the chosen workspace from the service. */
export const download = async (path: string, query: CsvProps['query'], type = 'text/csv'): Promise<Blob> => {
  const params = new URLSearchParams(Object.entries(query).flatMap(([key, value]) => (value ? [[key, String(value)]] : [])))
  const headers = { accept: type, ...(chosenWorkspace() && { 'Workspace-Id': chosenWorkspace() ?? '' }) }
  const response = await fetchOrUnreachable(`${path}?${params}`, { headers })
  if (!response.ok)
    throw toApiError(response.status, await response.json().catch(() => null), response.headers.get('x-request-id'))
  return response.blob()
}

/** Exports all matches of the filters, not only the shown pages. */
export const CsvButton = ({ path, query, name }: CsvProps) => {
  const save = useChange(() => download(path, query), {
    onDone: (file) => saveFile(`${name}.csv`, file),
    announcesFailure: true,
  })
  return (
    <Button icon="download" busy={save.isPending} onClick={() => save.mutate()}>
      {t('export_csv')}
    </Button>
  )
}
