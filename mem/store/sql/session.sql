-- name: settings
-- What every connection of a pool is set to: plans and searches that come out the same on each.
SET search_path = mem, public;
-- Compiling a statement takes longer than running one of ours.
SET jit = off;
SET random_page_cost = 1.1;
-- Under a generic plan the partial indexes are out of reach.
SET plan_cache_mode = force_custom_plan;
SET hnsw.ef_search = 200;
-- Goes on where filters leave too few; comes unordered, so callers sort.
SET hnsw.iterative_scan = relaxed_order;
SET pg_trgm.word_similarity_threshold = 0.3;
-- A worker that hangs must not hold locks for ever.
SET idle_in_transaction_session_timeout = '30s'

-- name: statement_timeout
-- End each later statement of this connection that takes longer.
SELECT set_config('statement_timeout', %(milliseconds)s, false)

-- name: keep_plans
-- Plan a prepared statement once for all parameters.
SET plan_cache_mode = force_generic_plan

-- name: read_only
-- Let no later statement of this connection change anything.
SET default_transaction_read_only = on

-- name: answers
-- Nothing, to see whether anybody is there.
SELECT 1
