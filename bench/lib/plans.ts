import postgres from 'postgres';
import { baseOptions, type Connect } from '../../src/adapters/postgres/connection/sql.ts';

/**
 * Makes connections on which PostgreSQL tells the plan of every statement it runs, those inside functions included, as
 * it really ran: no statement has to be repeated here to be explained.
 *
 * @param onPlan is called with each plan, as `explain (analyze, buffers)` writes it
 */
export function explaining(url: string, onPlan: (plan: string) => void): Connect {
  return (extra = {}) =>
    postgres(url, {
      ...baseOptions,
      ...extra,
      onnotice: ({ message }) => {
        if (message?.includes('Query Text')) onPlan(message);
      },
      connection: {
        session_preload_libraries: 'auto_explain',
        // A number 0 would be left out.
        'auto_explain.log_min_duration': '0',
        'auto_explain.log_analyze': true,
        'auto_explain.log_buffers': true,
        'auto_explain.log_nested_statements': true,
        'auto_explain.log_level': 'notice',
      },
    });
}
