import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { Link } from 'wouter'
import { usePeople, usePersonOptions } from '../../api/names.ts'
import { auditQuery, batchQuery, type Schemas } from '../../api/queries.ts'
import { useFilters } from '../../lib/drafts.ts'
import { t } from '../../lib/language.ts'
import { saveFile } from '../../lib/text-file.ts'
import { addMonths, daysAfter, localDate, now } from '../../lib/time.ts'
import { groupByKey } from '../../lib/words.ts'
import { Allowed } from '../../shell/allowed.tsx'
import { hrefOfId } from '../../shell/paths.ts'
import { useSession } from '../../shell/session.tsx'
import { FoldButton } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { download, FilterBar } from '../../ui/filter-bar.tsx'
import { DialogButton, FormDialog, useChange } from '../../ui/form.tsx'
import type { IconName } from '../../ui/icon.tsx'
import { Item, Listing } from '../../ui/listing.tsx'
import { Empty, ExactTime, MaybeLink, Page } from '../../ui/page.tsx'
import { activityGroups, activityOfBatch, activityWords, batchKey } from './activity-words.ts'
import { richWork, tWork } from './texts.ts'

type Entry = Schemas['WorkspaceAuditEntry']

export const ActivityPage = () => (
  <Page
    title={tWork('activity')}
    lead={tWork('activity.note')}
    back={{ href: '/workspace', label: t('workspace') }}
    actions={<ExportEvidence />}
  >
    <Allowed permission="audit.read" action={tWork('see_activity')}>
      <Activity />
    </Allowed>
  </Page>
)

const ExportEvidence = () =>
  useSession().can('audit.read') && (
    <DialogButton icon="download" dialog={(close) => <EvidenceDialog onClose={close} />}>
      {tWork('evidence')}
    </DialogButton>
  )

/** Suggests the previous month, which is complete. */
const EvidenceDialog = ({ onClose }: { onClose: () => void }) => {
  const { workspace } = useSession()
  const month = localDate(now()).slice(0, 7)
  const [from, setFrom] = useState(`${addMonths(month, -1)}-01`)
  const [to, setTo] = useState(daysAfter(`${month}-01`, -1))
  const save = useChange(() => download('/v1/workspaces/current/evidence', { from, to }, 'application/zip'), {
    announcement: tWork('evidence.done'),
    onDone: (file) => {
      saveFile(`evidence-${from}-${to}.zip`, file)
      onClose()
    },
  })
  return (
    <FormDialog
      title={tWork('evidence.of', { name: workspace.name })}
      action={tWork('evidence.act')}
      mutation={save}
      ready={from !== '' && to !== ''}
      onClose={onClose}
    >
      <p>{richWork('evidence.note', { link: <a href="/verify">{tWork('evidence.check')}</a> })}</p>
      <TextField label={t('from')} type="date" value={from} onChange={setFrom} />
      <TextField label={t('until')} type="date" value={to} onChange={setTo} hint={tWork('evidence.hint')} />
    </FormDialog>
  )
}

const Activity = () => {
  const filters = useFilters()
  const { get, field } = filters
  const people = usePeople()
  const choices = usePersonOptions(get('person') ?? '')
  const filterValues = { action: get('action') ?? undefined, actor: get('person') ?? undefined, ...filters.days }
  const query = auditQuery(filterValues)
  useFillPage(query)
  return (
    <>
      <FilterBar filters={filters}>
        <SelectField label={tWork('activity')} {...field('action')} emptyLabel={tWork('activity.all')} options={activityGroups} />
        <SelectField label={tWork('person')} {...field('person')} emptyLabel={tWork('everyone')} options={choices} />
      </FilterBar>
      <Listing label={tWork('entries')} query={query} empty={<Empty icon="list" title={tWork('activity.no_match')} />}>
        {(entries) => (
          <ul className="rows">
            {groupByKey(entries, batchKey).map((group) => (
              <li key={group[0].id}>
                {group.length > 1 ? <BatchRow entries={group} people={people} /> : <Row entry={group[0]} people={people} />}
              </li>
            ))}
          </ul>
        )}
      </Listing>
    </>
  )
}

const maxPages = 20

/** A page with only batch payments fills a row or two, so the next page is loaded too. */
const useFillPage = (query: ReturnType<typeof auditQuery>) => {
  const { data, hasNextPage, isFetching, isError, fetchNextPage } = useInfiniteQuery(query)
  const pages = data?.pages ?? []
  const isOfLists = pages.at(-1)?.data.every((entry) => batchKey(entry) !== null) ?? false
  useEffect(() => {
    if (isOfLists && hasNextPage && !isFetching && !isError && pages.length < maxPages) void fetchNextPage()
  }, [isOfLists, hasNextPage, isFetching, isError, pages.length, fetchNextPage])
}

type RowProps = { entry: Entry; people: (id: string) => string }

const Row = ({ entry, people }: RowProps) => {
  const { currency } = useSession()
  const href = entry.action === 'payment.denied' ? '/payments/refused' : hrefOfId(entry.subject)
  const sentence = activityWords(entry, { people, currency })
  return (
    <Item
      icon={iconOf(entry)}
      title={<MaybeLink href={href}>{sentence}</MaybeLink>}
      note={
        <>
          <ExactTime at={entry.created_at} />
          {entry.ip && tWork('from_ip', { ip: entry.ip })}
        </>
      }
    />
  )
}

const iconOf = (entry: Entry): IconName => (entry.grant_id ? 'robot' : entry.account_id ? 'account' : 'list')

/** Entries about many payments of one batch, in one line that unfolds to single entries. */
const BatchRow = ({ entries, people }: { entries: readonly [Entry, ...Entry[]]; people: RowProps['people'] }) => {
  const { currency } = useSession()
  const [entry] = entries
  const [open, setOpen] = useState(false)
  const batch = entry.payment?.batch
  const list = useQuery({ ...batchQuery(batch?.id ?? ''), enabled: batch !== undefined && batch !== null })
  return (
    <>
      <Item
        icon={iconOf(entry)}
        title={
          batch && <Link href={`/payments/batches/${batch.id}`}>{activityOfBatch(entries, { people, currency }, list.data)}</Link>
        }
        note={
          <>
            <ExactTime at={entry.created_at} />{' '}
            <FoldButton open={open} onChange={setOpen} words={[tWork('each'), tWork('fold')]} />
          </>
        }
      />
      {open && entries.map((each) => <Row key={each.id} entry={each} people={people} />)}
    </>
  )
}
