{{ config(materialized='table') }} select id, team, score * 2 as doubled from {{ ref('scores') }}
