import { useInfiniteQuery } from '@tanstack/react-query'
import type { ComponentProps } from 'react'
import { adviceFor, hasCode } from '../../api/error.ts'
import { suspenseQuery } from '../../api/queries.ts'
import { LinkButton } from '../../ui/button.tsx'
import { EmptyCard, Page } from '../../ui/page.tsx'

export const AdministratorsPage = (props: ComponentProps<typeof Page>) => {
  const { error } = useInfiniteQuery(suspenseQuery)
  if (!hasCode(error, 'admin_required')) return <Page {...props} />
  return (
    <Page title={props.title}>
      <EmptyCard icon="lock" title="Only administrators can see this" actions={<LinkButton href="/">Go to overview</LinkButton>}>
        {adviceFor(error)}
      </EmptyCard>
    </Page>
  )
}
