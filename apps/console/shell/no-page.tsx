import { Link } from '@tanstack/react-router'
import { Empty } from '../components/notice.js'

export function NoPage() {
  return (
    <main>
      <Empty title="There is no page at this address">
        <p>
          <Link to="/jobs">Go to the jobs</Link>
        </p>
      </Empty>
    </main>
  )
}
