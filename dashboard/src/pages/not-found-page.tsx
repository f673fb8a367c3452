import { LinkButton } from '../ui/button.tsx'
import { Empty, PageHeader } from '../ui/layout.tsx'

export const NotFoundPage = () => (
  <div className="stack">
    <PageHeader title="There is no such page" />
    <div className="card">
      <Empty icon="search" title="Nothing is here" actions={<LinkButton href="/">Go to the overview</LinkButton>}>
        The address may be mistyped, or what it named may be gone.
      </Empty>
    </div>
  </div>
)
