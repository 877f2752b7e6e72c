select team, sum(score) as total from {{ ref('scores') }} group by team
